import { ServerResponse } from 'node:http';
import { Receiver } from './receiver';
import { waitFor } from './wait';

/** Answers that a receiver holds back, by path. */
export class HeldAnswers {
  private readonly held = new Map<string, ServerResponse[]>();

  constructor(private readonly receiver: Receiver) {}

  /** Holds back the answers at a path until `release`, and answers all others. */
  hold(path: string): void {
    this.held.set(path, []);
    this.receiver.https.respond = (response, request) => {
      const waiting = this.held.get(request.path);
      if (waiting) waiting.push(response);
      else response.end('ok');
    };
  }

  release(path: string, status = 200): void {
    const waiting = this.held.get(path) ?? [];
    this.held.delete(path);
    for (const response of waiting) response.writeHead(status).end();
  }

  /** Returns the answers that are held back at a path. A test that removes one gives it. */
  list(path: string): ServerResponse[] {
    return this.held.get(path)!;
  }

  /** Returns how many requests at a path wait whose senders have not hung up. */
  countWaiting(path: string): number {
    return this.list(path).filter(({ destroyed }) => !destroyed).length;
  }

  /** Answers the oldest request at a path. Returns whether its sender still waited. */
  answerNext(path: string): boolean {
    const response = this.list(path).shift();
    if (!response || response.destroyed) return false;
    response.end();
    return true;
  }

  async waitForCount(path: string, count: number): Promise<void> {
    await waitFor(`${count} deliveries under way`, () => this.list(path).length >= count);
  }
}
