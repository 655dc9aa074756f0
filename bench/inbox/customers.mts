import { randomUUID } from 'node:crypto';
import { sleep } from '../../scripts/processes.mjs';

/** A message that a customer sent. Times are in milliseconds since 1970, with fractions. */
export interface WrittenMessage {
  text: string;
  /** Number of the customer, each of whom has a conversation. */
  writer: number;
  asked: number;
  /** Time of the answer, which comes after the commit. */
  stored: number;
}

const now = () => performance.timeOrigin + performance.now();

/** Visitors of a shop with the widget, each with a conversation. */
export class Customers {
  static readonly ORIGIN = 'https://shop.example';
  private written = 0;

  private constructor(
    private readonly url: string,
    private readonly tokens: string[],
  ) {}

  /** Begins the sessions of so many visitors, and their conversations. */
  static async begin(service: string, path: string, count: number): Promise<Customers> {
    const url = service + path;
    const tokens: string[] = [];
    while (tokens.length < count) {
      const answer = await post(`${url}/sessions`, tokens.length, {});
      tokens.push((answer as { token: string }).token);
    }
    const customers = new Customers(url, tokens);
    await customers.write(20, count / 20);
    return customers;
  }

  /** Writes messages at a steady rate, by one visitor after the other, and returns those that were stored. */
  async write(perSecond: number, seconds: number): Promise<WrittenMessage[]> {
    const begin = performance.now();
    const writing: Promise<WrittenMessage>[] = [];
    for (let n = 0; n < perSecond * seconds; n++) {
      await sleep(Math.max(0, begin + (n * 1_000) / perSecond - performance.now()));
      writing.push(this.writeOne(n % this.tokens.length));
    }
    return Promise.all(writing);
  }

  private async writeOne(writer: number): Promise<WrittenMessage> {
    const text = `Question ${++this.written}.`;
    const asked = now();
    await post(
      `${this.url}/messages`,
      writer,
      { clientMessageId: randomUUID(), body: text },
      this.tokens[writer],
    );
    return { text, writer, asked, stored: now() };
  }
}

async function post(url: string, writer: number, body: object, token?: string): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      origin: Customers.ORIGIN,
      'x-forwarded-for': `10.3.${writer >> 8}.${writer & 255}`,
      ...(token && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url} was answered ${response.status}: ${await response.text()}`);
  return response.json();
}
