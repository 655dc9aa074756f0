import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { AppError } from '../common/app-error';
import { Config } from '../config/config';
import { DATA_SOURCE } from '../database/database';
import { DatabaseClock } from '../database/database-clock';
import { RedisClient } from '../redis/redis.module';

type State = 'up' | 'down';

export interface Readiness {
  status: 'up';
  database: State;
  migrations: 'applied' | 'pending';
  clock: 'synchronized' | 'wrong';
  redis: State;
}

@Injectable()
export class HealthService {
  private migrated = false;

  constructor(
    private readonly config: Config,
    @InjectDataSource(DATA_SOURCE) private readonly dataSource: DataSource,
    private readonly clock: DatabaseClock,
    private readonly redis: RedisClient,
  ) {}

  /**
   * The API needs its migrated database and only reports Redis, since it works without. A worker needs both.
   * @throws AppError UNAVAILABLE, with a detail for each missing dependency
   */
  async ready(): Promise<Readiness> {
    const [database, redis] = await Promise.all([this.database(), this.redisState()]);
    const readiness: Readiness = {
      status: 'up',
      database,
      migrations: database === 'up' && (await this.isMigrated()) ? 'applied' : 'pending',
      clock: this.clock.isTrusted ? 'synchronized' : 'wrong',
      redis,
    };
    const missing = [
      ...(database === 'down' ? [{ field: 'database', message: 'is down' }] : []),
      ...(database === 'up' && readiness.migrations === 'pending'
        ? [{ field: 'migrations', message: 'are not applied' }]
        : []),
      ...(readiness.clock === 'wrong'
        ? [{ field: 'clock', message: "is more than 2 s from the database's" }]
        : []),
      ...(redis === 'down' && this.config.role === 'worker' ? [{ field: 'redis', message: 'is down' }] : []),
    ];
    if (missing.length > 0) throw new AppError('UNAVAILABLE', 'The process is not ready.', missing);
    return readiness;
  }

  private async database(): Promise<State> {
    return this.dataSource.query('SELECT 1').then(
      () => 'up',
      () => 'down',
    );
  }

  private async redisState(): Promise<State> {
    return this.redis.inTime(this.redis.ping()).then(
      () => 'up',
      () => 'down',
    );
  }

  /** Cached once true: migrations are never reverted under a running process. Read-only, unlike TypeORM's own check. */
  private async isMigrated(): Promise<boolean> {
    if (this.migrated) return true;
    const [table] = await this.dataSource.query<{ name: string | null }[]>(
      `SELECT to_regclass('migrations') AS name`,
    );
    if (!table?.name) return false;
    const rows = await this.dataSource.query<{ name: string }[]>('SELECT name FROM migrations');
    const applied = new Set(rows.map(({ name }) => name));
    this.migrated = this.dataSource.migrations.every(({ name, constructor }) =>
      applied.has(name ?? constructor.name),
    );
    return this.migrated;
  }
}
