import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { Config } from '../../config/config';
import { Database } from '../../database/database';
import { ClockStates, DatabaseClock } from '../../database/database-clock';
import { RedisClient } from '../../redis/redis-client';
import { DatabaseCheck, DatabaseState, RoleFault } from './database-check';

type State = 'up' | 'down';

export interface Readiness extends ClockStates {
  status: 'up';
  database: State;
  migrations: DatabaseState['migrations'];
  privileges: 'granted' | 'missing';
  settings: 'set' | 'missing';
  redis: State;
}

interface Probe extends DatabaseState {
  databaseFault: string | null;
  redis: State;
}

const UNKNOWN: DatabaseState = { migrations: 'pending', roleFaults: [] };
/** Milliseconds for which a result is reused, because anyone may call the route at any rate. */
const PROBE_KEPT_MS = 1_000;

@Injectable()
export class HealthService {
  private isStopping = false;
  private probe: Promise<Probe> | null = null;

  constructor(
    private readonly config: Config,
    private readonly database: Database,
    private readonly databaseCheck: DatabaseCheck,
    private readonly clock: DatabaseClock,
    private readonly redis: RedisClient,
  ) {}

  /** Makes the readiness route report that the process is not ready. The process still serves requests. */
  stop(): void {
    this.isStopping = true;
  }

  /**
   * Checks the servers that the process depends on, at most once a second. An API process needs a migrated
   * database with its privileges. It is ready without Redis, too. A worker also needs Redis, and the
   * privileges of the tables' owner. The result includes the states of Redis and of the clocks of database
   * nodes.
   * @throws AppError UNAVAILABLE, with a detail for each missing dependency
   */
  async ready(): Promise<Readiness> {
    this.probe ??= this.startProbe();
    const { databaseFault, redis, migrations, roleFaults } = await this.probe;
    const readiness: Readiness = {
      status: 'up',
      database: databaseFault === null ? 'up' : 'down',
      migrations,
      privileges: lacks(roleFaults, 'privileges') ? 'missing' : 'granted',
      settings: lacks(roleFaults, 'settings') ? 'missing' : 'set',
      ...this.clock.states,
      redis,
    };
    const missing = [
      ...(this.isStopping ? [{ field: 'process', message: 'is stopping' }] : []),
      ...(databaseFault === null ? [] : [{ field: 'database', message: databaseFault }]),
      ...(databaseFault === null && roleFaults.length === 0 && migrations === 'pending'
        ? [{ field: 'migrations', message: 'are not applied' }]
        : []),
      ...roleFaults,
      ...(readiness.clock === 'wrong'
        ? [{ field: 'clock', message: "is more than 2 s from the database's" }]
        : []),
      ...(redis === 'down' && this.config.role === 'worker' ? [{ field: 'redis', message: 'is down' }] : []),
    ];
    if (missing.length > 0) throw new AppError('UNAVAILABLE', 'The process is not ready.', missing);
    return readiness;
  }

  private startProbe(): Promise<Probe> {
    const forget = () => (this.probe = null);
    return this.probeServers().finally(() => setTimeout(forget, PROBE_KEPT_MS).unref());
  }

  private async probeServers(): Promise<Probe> {
    const [databaseFault, redis] = await Promise.all([this.database.pool.findFault(), this.checkRedis()]);
    const state = databaseFault === null ? await this.databaseCheck.check() : UNKNOWN;
    return { databaseFault, redis, ...state };
  }

  private async checkRedis(): Promise<State> {
    return this.redis.ping().then(
      () => 'up',
      () => 'down',
    );
  }
}

function lacks(faults: RoleFault[], field: RoleFault['field']): boolean {
  return faults.some((fault) => fault.field === field);
}
