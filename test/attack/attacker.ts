import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { RawConnection } from '../support/raw-connection';
import { AttackAnswer, Answers } from './answers';
import { AttackSizes } from './sizes';
import { Foothold, Target } from './target';

/** Number of connections that are opened at the same time. */
const BATCH = 100;
const TICK_MS = 25;
const POLL_MS = 50;
const GIVE_UP_MS = 20_000;

export interface FloodRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

export interface Attack<Means = Foothold> {
  name: string;
  run: (attacker: Attacker<Means>) => Promise<void>;
}

/** Opens connections for the attacks, and holds them until `letGo`. */
export class Attacker<Means = Foothold> {
  private held: RawConnection[] = [];
  private attack = '';

  constructor(
    private readonly target: Target<Means>,
    readonly sizes: AttackSizes,
  ) {}

  get foothold(): Means {
    return this.target.foothold;
  }

  get answers(): Answers {
    return this.target.answers;
  }

  query<Row>(sql: string, parameters: unknown[]): Promise<Row[]> {
    return this.target.host.query<Row>(sql, parameters);
  }

  async run({ name, run }: Attack<Means>): Promise<void> {
    this.attack = name;
    await run(this);
  }

  /**
   * Opens connections, and returns those that the service accepted.
   * @param allowHalfOpen they stay open when the service closes its side only
   */
  async open(count: number, { allowHalfOpen = false } = {}): Promise<RawConnection[]> {
    const opened: RawConnection[] = [];
    for (let left = count; left > 0; left -= BATCH)
      opened.push(...(await this.openBatch(Math.min(left, BATCH), allowHalfOpen)));
    return opened;
  }

  /** Sends a byte on each connection, repeatedly, until the service has closed all or the time is over. */
  async drip(connections: readonly RawConnection[], byte: string): Promise<void> {
    const giveUpAt = Date.now() + this.sizes.patienceMs;
    const open = () => connections.filter(({ isClosed }) => !isClosed);
    while (open().length > 0 && Date.now() < giveUpAt) {
      for (const connection of open()) connection.send(byte);
      await sleep(this.sizes.dripEveryMs);
    }
  }

  /** Waits until each connection is closed or answered, or the time is over. */
  async untilAnswered(connections: readonly RawConnection[]): Promise<void> {
    const giveUpAt = Date.now() + this.sizes.patienceMs;
    const isOpen = (connection: RawConnection) => !connection.isClosed && connection.answers().length === 0;
    while (connections.some(isOpen) && Date.now() < giveUpAt) await sleep(POLL_MS);
  }

  /** Waits until all connections are closed, and complains of those that are still open after the time. */
  async untilClosed(connections: readonly RawConnection[]): Promise<void> {
    const giveUpAt = Date.now() + this.sizes.patienceMs;
    const open = () => connections.filter(({ isClosed }) => !isClosed);
    while (open().length > 0 && Date.now() < giveUpAt) await sleep(POLL_MS);
    if (open().length > 0) this.answers.complain(`${this.attack} left ${open().length} connections open`);
  }

  /** Repeats an act for the duration of a flood. */
  async repeat(act: () => Promise<void>): Promise<void> {
    const end = Date.now() + this.sizes.floodMs;
    while (Date.now() < end) await act();
  }

  /**
   * Sends requests at a pace that does not wait for answers, up to `atOnce` in flight.
   * @param make the n-th request
   */
  async flood(
    make: (n: number) => FloodRequest,
    { perSecond = this.sizes.perSecond, forMs = this.sizes.floodMs, atOnce = 50 } = {},
  ): Promise<void> {
    const pool = new Pool(this.target.url, { connections: atOnce, headersTimeout: GIVE_UP_MS });
    const inFlight = new Set<Promise<unknown>>();
    const startedAt = Date.now();
    for (let sent = 0; Date.now() - startedAt < forMs;) {
      const due = ((Date.now() - startedAt) / 1000) * perSecond;
      for (; sent < due; sent++) {
        if (inFlight.size >= atOnce) continue; // skipped: the pace is not made up for
        const request = this.ask(pool, make(sent));
        inFlight.add(request);
        void request.finally(() => inFlight.delete(request));
      }
      await sleep(TICK_MS);
    }
    await Promise.all(inFlight);
    await pool.destroy();
  }

  /**
   * Sends one request.
   * @returns null without an answer
   */
  async askOnce(request: FloodRequest): Promise<AttackAnswer | null> {
    const pool = new Pool(this.target.url, { connections: 1 });
    const answer = await this.ask(pool, request);
    await pool.destroy();
    return answer;
  }

  /** Waits for the duration of a flood. */
  async wait(): Promise<void> {
    await sleep(this.sizes.floodMs);
  }

  /** Reads the answers on the held connections, and closes the connections. */
  letGo(): void {
    for (const connection of this.held) {
      // The events of a stream parse as an answer without a number.
      const answers = connection.answers().filter(({ status }) => Number.isInteger(status));
      for (const answer of answers) this.answers.add(this.attack, answer);
      if (answers.length === 0) this.answers.count('no answer');
      connection.destroy();
    }
    this.held = [];
  }

  private async openBatch(count: number, allowHalfOpen: boolean): Promise<RawConnection[]> {
    const tries = Array.from({ length: count }, () =>
      RawConnection.open(this.target.url, { allowHalfOpen }).catch(() => null),
    );
    const opened = (await Promise.all(tries)).filter((connection) => connection !== null);
    if (opened.length < count) this.answers.count('refused', count - opened.length);
    this.held.push(...opened);
    return opened;
  }

  /**
   * Sends a request over a pool.
   * @returns null without an answer
   */
  private async ask(pool: Pool, { method, path, headers, body }: FloodRequest): Promise<AttackAnswer | null> {
    try {
      const response = await pool.request({ method, path, headers, body });
      const text = await response.body.text();
      const isJson = String(response.headers['content-type']).startsWith('application/json');
      const answer: AttackAnswer = {
        status: response.statusCode,
        headers: response.headers as Record<string, string>,
        body: isJson ? JSON.parse(text) : text,
      };
      this.answers.add(this.attack, answer);
      return answer;
    } catch (error) {
      this.answers.count((error as NodeJS.ErrnoException).code ?? (error as Error).message);
      return null;
    }
  }
}
