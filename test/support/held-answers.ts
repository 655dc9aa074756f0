import { ServerResponse } from 'node:http';
import { Receiver } from './receiver';
import { waitFor } from './wait';

/** Answers that a receiver holds back, by path. */
export class HeldAnswers {
  private readonly held = new Map<string, ServerResponse[]>();

  constructor(private readonly receiver: Receiver) {}

  /** Holds back the answers at a path until `release` or until the sender hangs up. Answers all others. */
  hold(path: string): void {
    this.held.set(path, []);
    this.receiver.https.respond = (response, request) => {
      const waiting = this.held.get(request.path);
      if (!waiting) return void response.end('ok');
      waiting.push(response);
      response.once(
        'close',
        () => waiting.includes(response) && waiting.splice(waiting.indexOf(response), 1),
      );
    };
  }

  release(path: string, status = 200): void {
    const waiting = this.held.get(path) ?? [];
    this.held.delete(path);
    for (const response of [...waiting]) response.writeHead(status).end();
  }

  /** Returns the answers that are held back at a path. A test that removes one gives it. */
  list(path: string): ServerResponse[] {
    return this.held.get(path)!;
  }

  async waitForCount(path: string, count: number): Promise<void> {
    await waitFor(`${count} deliveries under way`, () => this.list(path).length >= count);
  }
}
