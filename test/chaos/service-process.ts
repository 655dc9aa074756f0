import { ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../support/wait';
import { Span, Stores } from './stores';

const MAIN = join(__dirname, '../../dist/main.js');
const CLOCK = join(__dirname, '../support/shifted-clock.cjs');
/** Milliseconds by which `shiftClock` changes the clock of a process. */
const CLOCK_OFFSET_MS = 5_000;
/** Delay of the supervisor before it restarts a process. */
const RESTART_MS = 250;
const READY_MS = 40_000;
/** File on which every write fails, as on a full disk. Only Linux has it. */
export const FULL_DISK = '/dev/full';

/** An unexpected end of a process. */
export interface Death {
  name: string;
  how: string;
  /** End of the process's log. */
  log: string;
}

export interface ServiceProcessOptions {
  name: string;
  role: 'api' | 'worker';
  port: number;
  env: NodeJS.ProcessEnv;
  logFile: string;
}

/** One process of the service under a supervisor, which restarts it after any end. */
export class ChaosProcess {
  /** Times in which the suite kept the process from serving. */
  readonly down: Span[] = [];
  readonly deaths: Death[] = [];
  /** Exit codes, one for each SIGTERM; a signal if the process had to be killed. */
  readonly stops: (number | NodeJS.Signals | null)[] = [];
  private child: ChildProcess | null = null;
  private wasReady = false;
  private doomed: NodeJS.Signals | null = null;
  private stopping = false;
  private output = '';

  constructor(
    private readonly options: ServiceProcessOptions,
    private readonly reaper: Stores['reaper'],
  ) {}

  get name(): string {
    return this.options.name;
  }

  get url(): string {
    return `http://127.0.0.1:${this.options.port}`;
  }

  get pid(): number | null {
    return this.child?.pid ?? null;
  }

  /** Starts the process. Settles when it serves. */
  async start(output: string): Promise<void> {
    this.output = output;
    this.down.push({ from: Date.now(), to: Infinity });
    this.spawn();
    await this.ready();
  }

  /** Waits until the process serves again. */
  async ready(): Promise<void> {
    await waitFor(`${this.name} to be ready`, () => this.wasReady && this.child, READY_MS);
  }

  /** Sends SIGKILL. */
  kill(): void {
    this.signal('SIGKILL');
  }

  /** Sends SIGTERM; settles when the process has ended. */
  async terminate(): Promise<void> {
    const { child } = this;
    if (!child) return;
    this.signal('SIGTERM');
    await waitFor(`${this.name} to end`, () => this.child !== child, READY_MS);
  }

  /** Sets the process's clock 5 s ahead, or right again. */
  shiftClock(): void {
    this.child?.kill('SIGUSR2');
  }

  /** Returns the reason why the process is not ready; null if it is, or does not respond. */
  async refusal(): Promise<string | null> {
    const response = await fetch(`${this.url}/health/ready`).catch(() => null);
    const text = (await response?.text().catch(() => null)) ?? null;
    return response?.status === 503 ? text : null;
  }

  /** Restarts the process with another output file. */
  async restartWith(output: string): Promise<void> {
    this.output = output;
    await this.terminate();
    await this.ready();
  }

  get logFile(): string {
    return this.options.logFile;
  }

  /** Ends the process without a restart. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.terminate();
  }

  private signal(signal: NodeJS.Signals): void {
    if (!this.child) return;
    if (this.down.at(-1)!.to !== Infinity) this.down.push({ from: Date.now(), to: Infinity });
    this.doomed = signal;
    this.child.kill(signal);
  }

  private spawn(): void {
    const output = openSync(this.output, 'a');
    const { role, port, env } = this.options;
    const child = spawn(process.execPath, ['--require', CLOCK, MAIN], {
      env: { ...env, ROLE: role, PORT: String(port), CLOCK_OFFSET_MS: String(CLOCK_OFFSET_MS) },
      detached: true,
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    this.reaper.adopt(child, 'SIGKILL');
    this.child = child;
    this.wasReady = false;
    this.doomed = null;
    child.once('exit', (code, signal) => void this.replace(child, code, signal));
    void this.watchReadiness(child);
  }

  private async watchReadiness(child: ChildProcess): Promise<void> {
    while (this.child === child && !this.wasReady) {
      const answer = await fetch(`${this.url}/health/live`).catch(() => null); // refused until it listens
      await answer?.body?.cancel();
      if (this.child !== child) return;
      this.wasReady = answer?.ok ?? false;
      if (!this.wasReady) await sleep(50);
    }
    if (this.child === child && !this.doomed) this.down.at(-1)!.to = Date.now();
  }

  private async replace(
    child: ChildProcess,
    code: number | null,
    signal: NodeJS.Signals | null,
  ): Promise<void> {
    this.reaper.release(child);
    if (this.doomed === 'SIGTERM') this.stops.push(signal ?? code);
    if (!this.doomed && this.wasReady) this.mourn(signal ?? `exit code ${code}`);
    this.child = null;
    if (this.down.at(-1)!.to !== Infinity) this.down.push({ from: Date.now(), to: Infinity });
    await sleep(RESTART_MS);
    if (!this.stopping) this.spawn();
  }

  private mourn(how: string): void {
    const log = existsSync(this.logFile) ? lastLines(readFileSync(this.logFile, 'utf8')) : '';
    this.deaths.push({ name: this.name, how, log });
  }
}

function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-8).join('\n');
}
