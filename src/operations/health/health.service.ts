import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { AppError } from '../../common/app-error';
import { Config } from '../../config/config';
import { DATA_SOURCE, Database } from '../../database/database';
import { DatabaseClock } from '../../database/database-clock';
import { poolOf } from '../../database/driver/database-pool';
import { areMigrationsApplied } from '../../database/setup/migration-state';
import { NodeClocks } from '../../database/node-clocks';
import { findDatabaseFault } from '../../database/driver/reachability';
import { RedisClient } from '../../redis/redis-client';
import { DatabaseRoleCheck, RoleFault } from './database-role-check';

type State = 'up' | 'down';

export interface Readiness {
  status: 'up';
  database: State;
  migrations: 'applied' | 'pending';
  privileges: 'granted' | 'missing';
  settings: 'set' | 'missing';
  clock: 'synchronized' | 'wrong';
  /** The clocks of the nodes, where the database is divided over several. */
  nodeClocks?: 'synchronized' | 'wrong';
  redis: State;
}

/** Result of a check of the database: whether all migrations are applied, and the faults of the roles. */
interface Preparation {
  migrations: Readiness['migrations'];
  roleFaults: RoleFault[];
}

/** Finding of one look at the servers that the process depends on. */
interface Probe extends Preparation {
  databaseFault: string | null;
  redis: State;
}

const UNKNOWN: Preparation = { migrations: 'pending', roleFaults: [] };
/** Milliseconds for which a probe is kept. Whoever asks may ask as often as they like. */
const PROBE_KEPT_MS = 1_000;

@Injectable()
export class HealthService {
  private isPrepared = false;
  private isStopping = false;
  private probe: Promise<Probe> | null = null;

  constructor(
    private readonly config: Config,
    @InjectDataSource(DATA_SOURCE) private readonly dataSource: DataSource,
    private readonly roles: DatabaseRoleCheck,
    private readonly clock: DatabaseClock,
    private readonly database: Database,
    private readonly nodeClocks: NodeClocks,
    private readonly redis: RedisClient,
  ) {}

  /**
   * Makes the readiness route report, from now on, that the process is not ready, though it still serves
   * requests.
   */
  stop(): void {
    this.isStopping = true;
  }

  /**
   * Checks the servers that the process depends on. The API needs a migrated database with its privileges,
   * and only reports Redis and the clocks of the database's nodes, because it works without. A worker needs
   * Redis too, and the privileges of the tables' owner. The servers are asked once a second at most.
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
      clock: this.clock.isTrusted ? 'synchronized' : 'wrong',
      ...(this.database.isDivided && { nodeClocks: this.nodeClocks.areTrusted ? 'synchronized' : 'wrong' }),
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
    const [databaseFault, redis] = await Promise.all([findDatabaseFault(this.dataSource), this.checkRedis()]);
    const preparation = databaseFault === null ? await this.checkPreparation() : UNKNOWN;
    return { databaseFault, redis, ...preparation };
  }

  private async checkRedis(): Promise<State> {
    return this.redis.ping().then(
      () => 'up',
      () => 'down',
    );
  }

  /**
   * Checks migrations and roles. A complete result is kept until a statement lacks a privilege, which was
   * taken away since. Without that cause no check is repeated: while `migrate` runs, the privileges of
   * new tables are missing.
   */
  private async checkPreparation(): Promise<Preparation> {
    if (poolOf(this.dataSource).hasLackedPrivilege()) this.isPrepared = false;
    if (this.isPrepared) return { migrations: 'applied', roleFaults: [] };
    const roleFaults = await this.roles.findFaults();
    // Without the privileges the migrations may not be readable.
    const isMigrated = roleFaults.length === 0 && (await areMigrationsApplied(this.dataSource));
    this.isPrepared = isMigrated;
    return { migrations: isMigrated ? 'applied' : 'pending', roleFaults };
  }
}

function lacks(faults: RoleFault[], field: RoleFault['field']): boolean {
  return faults.some((fault) => fault.field === field);
}
