import { readFileSync } from 'node:fs';
import { HttpsReceiver, ReceivedRequest } from './https-receiver';
import { setting } from './test-database';
import { waitFor } from './wait';

/** A webhook as its receiver gets it. */
export interface ReceivedWebhook extends ReceivedRequest {
  /** The parsed body. */
  envelope: { event: string; deliveredAt: string; data: any };
}

/** An https receiver that the service under test trusts and may reach. */
export class Receiver {
  private constructor(readonly https: HttpsReceiver) {}

  static async start(): Promise<Receiver> {
    const cert = readFileSync(setting('TEST_CERT_FILE'), 'utf8');
    const key = readFileSync(setting('TEST_KEY_FILE'), 'utf8');
    return new Receiver(await HttpsReceiver.start({ cert, key }));
  }

  url(path = '/hook'): string {
    return `https://127.0.0.1:${this.https.port}${path}`;
  }

  /** The requests to a path so far. */
  received(path = '/hook'): ReceivedWebhook[] {
    return this.https.requests
      .filter((request) => request.path === path)
      .map((request) => ({ ...request, envelope: JSON.parse(request.body.toString()) }));
  }

  /** The first webhook that fits, as soon as it is there. */
  waitFor(fits: (webhook: ReceivedWebhook) => boolean, path = '/hook'): Promise<ReceivedWebhook> {
    return waitFor('a webhook', () => this.received(path).find(fits));
  }

  /** Everything that came to a path, as soon as it is so many. */
  async waitForCount(count: number, path = '/hook'): Promise<ReceivedWebhook[]> {
    return waitFor(`${count} webhooks`, () => {
      const all = this.received(path);
      return all.length >= count && all;
    });
  }

  stop(): Promise<void> {
    return this.https.stop();
  }
}
