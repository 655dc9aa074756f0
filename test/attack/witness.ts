import { ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setting } from '../support/test-database';
import { waitFor } from '../support/wait';

const PROCESS = join(__dirname, 'witness-process.mjs');

/** Report of the witness on the time since its last report. Latencies are in milliseconds. */
export interface Testimony {
  answered: number;
  /** Number of requests answered with success. */
  served: number;
  p50: number | null;
  p99: number | null;
  /** 99th percentile of the time from a message's answer of 201 to its webhook. */
  webhookP99: number | null;
  /** Numbers of requests that were not served, by status or by the error's code. */
  failures: Record<string, number>;
  /** Number of messages since the start that were answered with 201; `missing` of them have not arrived. */
  promised: number;
  missing: number;
  /** Number of requests that wait for an answer. */
  inFlight: number;
  /** Answers since the start that are neither a success nor 503. */
  unexpected: string[];
}

/** Session at the dashboard, whose pages the witness reads in turn. */
export interface WitnessSession {
  url: string;
  cookie: string;
  paths: string[];
}

export interface WitnessWorkspace {
  url: string;
  key: string;
  conversationId: string;
}

/**
 * Calls the API for one workspace without pause, and receives its webhooks; or reads the dashboard's pages.
 * It has a process of its own.
 */
export class Witness {
  private constructor(
    private readonly child: ChildProcess,
    /** URL of the endpoint at which the witness receives webhooks. */
    readonly endpoint: string,
  ) {}

  static async start(): Promise<Witness> {
    const child = fork(PROCESS, [setting('TEST_CERT_FILE'), setting('TEST_KEY_FILE')], { execArgv: [] });
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    return new Witness(child, `https://127.0.0.1:${port}/witness`);
  }

  async begin(workspace: WitnessWorkspace | WitnessSession): Promise<void> {
    await this.ask({ begin: workspace });
  }

  report(): Promise<Testimony> {
    return this.ask({});
  }

  /** Settles when each message that was answered with 201 has arrived, or when the time is over. */
  async settled(patienceMs: number): Promise<void> {
    const before = (await this.ask({ end: true })).promised;
    const hasAll = async () => {
      const { inFlight, missing } = await this.report();
      return inFlight === 0 && missing === 0;
    };
    await waitFor(`${before} messages of the witness`, hasAll, patienceMs).catch(() => undefined);
  }

  stop(): void {
    this.child.kill('SIGKILL');
  }

  private async ask(question: object): Promise<Testimony> {
    const answer = once(this.child, 'message') as Promise<[Testimony]>;
    this.child.send(question);
    return (await answer)[0];
  }
}
