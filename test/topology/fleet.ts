import { join } from 'node:path';
import { ServiceProcess } from '../support/service-process';
import { TestStores } from '../support/test-database';
import { waitFor } from '../support/wait';
import { Balancer, isReady } from './balancer';
import { Version } from './version';

export type FleetRole = 'api' | 'worker';

const OF_EACH_ROLE = 2;
const READY_MS = 60_000;

interface End {
  role: FleetRole;
  /** Exit code, or the signal that killed the process. */
  how: number | NodeJS.Signals | null;
  /** Milliseconds from SIGTERM to the end. */
  ms: number;
}

/** Two API processes behind a balancer, and two workers, which are replaced one at a time. */
export class Fleet {
  /** Ends of the processes that were told to stop. */
  readonly ends: End[] = [];
  private readonly members: Record<FleetRole, ServiceProcess[]> = { api: [], worker: [] };
  private started = 0;

  constructor(
    private readonly stores: TestStores,
    private readonly env: Record<string, string>,
    private readonly balancer: Balancer,
    private readonly logFolder: string,
  ) {}

  async start(version: Version): Promise<void> {
    for (const role of ['api', 'worker'] as const)
      for (let index = 0; index < OF_EACH_ROLE; index++) await this.launch(role, version);
  }

  /**
   * Ends the oldest process of a role, waits until it has ended, and starts another. Settles when the new one
   * is ready.
   */
  async replaceOne(role: FleetRole, version: Version): Promise<void> {
    await this.end(role, this.members[role].shift()!);
    await this.launch(role, version);
  }

  async stop(): Promise<void> {
    for (const role of ['api', 'worker'] as const)
      await Promise.all(this.members[role].splice(0).map((process) => this.end(role, process)));
  }

  private async end(role: FleetRole, process: ServiceProcess): Promise<void> {
    const begin = Date.now();
    process.kill('SIGTERM');
    const { code, signal } = await process.exited;
    this.ends.push({ role, how: signal ?? code, ms: Date.now() - begin });
    this.balancer.remove(process.url);
  }

  private async launch(role: FleetRole, version: Version): Promise<void> {
    const logFile = join(this.logFolder, `${++this.started}-${role}.log`);
    const process = await version.start(role, this.stores, this.env, logFile);
    this.members[role].push(process);
    if (role === 'api') await this.balancer.add(process.url);
    else await waitFor(`a ${role} to be ready`, () => isReady(process.url), READY_MS);
  }
}
