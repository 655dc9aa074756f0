import { setTimeout as sleep } from 'node:timers/promises';
import { Role } from '../../src/config/settings';
import { ServiceProcess } from '../support/service-process';
import { TestStores } from '../support/test-database';
import { waitFor } from '../support/wait';

const RESTART_MS = 200;
const START_MS = 30_000;

/** A process of the service that is started again after each end, as a supervisor does. */
export class SupervisedProcess {
  /** Ends that nobody asked for, after the process had listened. */
  readonly deaths: string[] = [];
  kills = 0;
  private current: ServiceProcess | null = null;
  private isStopping = false;
  private running: Promise<void> | null = null;

  /**
   * @param onStart called whenever the process listens
   * @param onKilled called after a kill and before the next start
   */
  constructor(
    private readonly role: Role,
    private readonly stores: TestStores,
    private readonly env: Record<string, string>,
    private readonly onStart: (started: ServiceProcess) => void = () => undefined,
    private readonly onKilled: () => Promise<void> = () => Promise.resolve(),
  ) {}

  /** Address at which the process listens; null while there is none. */
  get url(): string | null {
    return this.current?.url ?? null;
  }

  async start(): Promise<void> {
    this.running = this.run();
    await this.ready();
  }

  async ready(): Promise<void> {
    await waitFor(`${this.role} to listen`, () => this.current, START_MS);
  }

  /** Sends SIGKILL, if the process listens. */
  kill(): void {
    if (!this.current) return;
    this.kills += 1;
    const killed = this.current;
    this.current = null;
    killed.kill('SIGKILL');
  }

  /** Ends the process for good. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.current?.kill('SIGKILL');
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.isStopping) {
      // A process may not start while the database is away.
      const started = await ServiceProcess.start(this.role, this.stores, this.env).catch(() => null);
      if (started && !this.isStopping) {
        this.current = started;
        this.onStart(started);
        const { code, signal } = await started.exited;
        if (this.current === started && !this.isStopping) this.deaths.push(`${this.role}: ${signal ?? code}`);
        this.current = null;
        if (!this.isStopping) await this.onKilled();
      } else if (started) await started.end('SIGKILL');
      await sleep(RESTART_MS);
    }
  }
}
