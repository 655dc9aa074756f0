import { readFileSync } from 'node:fs';
import { HttpsReceiver, ReceivedRequest } from './https-receiver';
import { setting } from './test-database';
import { waitFor } from './wait';

/** A webhook in the form in which its receiver gets it. */
export interface ReceivedWebhook extends ReceivedRequest {
  /** The parsed body. */
  envelope: { event: string; deliveredAt: string; data: any; context?: any };
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

  /** Returns the requests to a path so far. */
  received(path = '/hook'): ReceivedWebhook[] {
    return this.https.requests
      .filter((request) => request.path === path)
      .map((request) => ({ ...request, envelope: JSON.parse(request.body.toString()) }));
  }

  /** Waits for the first webhook for which `fits` is true. */
  waitFor(fits: (webhook: ReceivedWebhook) => boolean, path = '/hook'): Promise<ReceivedWebhook> {
    return waitFor('a webhook', () => this.received(path).find(fits));
  }

  /** Waits until a path has had so many webhooks, and returns all of them. */
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
