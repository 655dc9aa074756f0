import { Role } from '../../src/config/settings';
import { ServiceProcess } from './service-process';
import { TestStores } from './test-database';

/**
 * Two API processes and two workers over one database and Redis, as in production. `npm run test:cluster`
 * runs the end-to-end tests against it.
 */
export class Cluster {
  private constructor(private readonly processes: ServiceProcess[]) {}

  /**
   * Starts the processes.
   * @param env variables of each process on top of those that the role needs
   */
  static async start(stores: TestStores, env: Record<string, string>): Promise<Cluster> {
    const roles: Role[] = ['api', 'api', 'worker', 'worker'];
    const started = roles.map((role) => ServiceProcess.start(role, stores, { ...env, LOG_LEVEL: 'info' }));
    return new Cluster(await Promise.all(started));
  }

  /** Base URLs of the API processes. */
  get apiUrls(): string[] {
    return this.processes.slice(0, 2).map(({ url }) => url);
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.end('SIGTERM')));
  }
}
