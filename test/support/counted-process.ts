import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Role } from '../../src/config/settings';
import { ServiceProcess } from './service-process';
import { stopAtEnd } from './stop-at-end';
import { TestStores } from './test-database';
import { waitFor } from './wait';

const COUNTER = resolve(__dirname, 'work-counter.cjs');

/** Work of a process that does not depend on the machine. `bytes` are those allocated on the heap. */
export interface WorkCounts {
  transactions: number;
  timers: number;
  immediates: number;
  promises: number;
  bytes: number;
  /** Writes to sockets, by peer. */
  writes: Record<'postgres' | 'redis' | 'clients' | 'receivers', number>;
  /** Executions by the text of the statement. */
  statements: Record<string, number>;
}

/** A process of the service that counts its work. */
export class CountedProcess {
  private constructor(
    readonly process: ServiceProcess,
    private readonly file: string,
  ) {}

  static async start(role: Role, stores: TestStores): Promise<CountedProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'messaging-counts-'));
    const file = join(folder, 'counts.json');
    const env = { NODE_OPTIONS: `--require ${COUNTER}`, WORK_COUNTS: file };
    const counted = new CountedProcess(await ServiceProcess.start(role, stores, env), file);
    return stopAtEnd(counted, () => rmSync(folder, { recursive: true, force: true }));
  }

  /** Returns the counts since the start of the process. */
  async read(): Promise<WorkCounts> {
    rmSync(this.file, { force: true });
    this.process.kill('SIGUSR2');
    await waitFor('the counts of a process', () => existsSync(this.file));
    return JSON.parse(readFileSync(this.file, 'utf8')) as WorkCounts;
  }
}
