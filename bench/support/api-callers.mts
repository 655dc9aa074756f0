import { Agent, request } from 'undici';
import { sleep } from '../../scripts/processes.mjs';
import { itemInTurn } from './items.mts';
import type { Sender } from './offer-by-api.mts';
import { bodyAskedAt } from './settings.mts';
import { percentilesOf, type Percentiles } from './statistics.mts';

/** Answers to posted messages: how many were accepted or refused, and their latencies in milliseconds. */
export interface Answers extends Percentiles {
  accepted: number;
  refused: number;
}

/** Largest number of a load's concurrent requests. */
export const CALLERS = 64;

/** Posts messages of some workspaces to one server, each to the next conversation. */
export class ApiCallers {
  private readonly url: string;
  private readonly senders: Sender[];
  private readonly agent: Agent;
  private sent = 0;
  private statuses: number[] = [];
  private latencies: number[] = [];

  constructor(url: string, senders: Sender[], connections = CALLERS) {
    this.url = url;
    this.senders = senders;
    this.agent = new Agent({ connections, pipelining: 1 });
  }

  /** Posts at a steady rate, whether or not earlier requests are answered. */
  async offer({ perSecond, seconds }: { perSecond: number; seconds: number }): Promise<Answers> {
    const startedAt = performance.now();
    const posting: Promise<void>[] = [];
    for (let n = 0; n < perSecond * seconds; n++) {
      const early = startedAt + (n * 1000) / perSecond - performance.now();
      if (early > 1) await sleep(early);
      posting.push(this.post());
    }
    await Promise.all(posting);
    return this.take();
  }

  /** Has `callers` post for `seconds`, each the next message as soon as the last one is answered. */
  async saturate(callers: number, seconds: number): Promise<Answers> {
    const end = performance.now() + seconds * 1000;
    const post = async () => {
      while (performance.now() < end) await this.post();
    };
    await Promise.all(Array.from({ length: callers }, post));
    return this.take();
  }

  close(): Promise<void> {
    return this.agent.close();
  }

  private async post(): Promise<void> {
    const n = this.sent++;
    const { apiKey, conversationIds } = itemInTurn(this.senders, n);
    const conversationId = itemInTurn(conversationIds, Math.floor(n / this.senders.length));
    const askedAt = performance.now();
    const { statusCode, body } = await request(
      `${this.url}/api/v1/conversations/${conversationId}/messages`,
      {
        dispatcher: this.agent,
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ body: bodyAskedAt(Date.now()) }),
      },
    );
    await body.dump();
    this.statuses.push(statusCode);
    this.latencies.push(performance.now() - askedAt);
  }

  private take(): Answers {
    const accepted = this.statuses.filter((status) => status === 201).length;
    const refused = this.statuses.length - accepted;
    const answers = { accepted, refused, ...percentilesOf(this.latencies) };
    this.statuses = [];
    this.latencies = [];
    return answers;
  }
}
