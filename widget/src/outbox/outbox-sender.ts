import { backoffMs } from '../protocol/backoff';
import { Pause } from '../protocol/pause';
import { isRefusal, retryAfterMsOf, statusOf } from '../protocol/service-client';
import type { Message } from '../protocol/types';
import type { VisitorSession } from '../session/visitor-session';
import type { Outbox } from './outbox';
import type { OutboxRecord } from './outbox-record';

/** HTTP statuses with which the service refuses one message. The next message may still be accepted. */
const REFUSES_THE_MESSAGE = [400, 413, 422];

/** Sends the unsent messages of one visitor, oldest first and one at a time. */
export class OutboxSender {
  private readonly pause = new Pause();
  private readonly aborter = new AbortController();
  private running: Promise<void> | null = null;

  constructor(
    private readonly outbox: Outbox,
    private readonly session: VisitorSession,
    private readonly onRefused: (error: unknown) => void,
  ) {}

  /** Sends the waiting messages. Ends a wait after a failure, except a wait that `Retry-After` demands. */
  wake(): void {
    this.pause.cut();
    if (!this.aborter.signal.aborted) this.running ??= this.sendAll().finally(() => (this.running = null));
  }

  /** Stops sending. Resolves once no request is in flight, so that the caller may move unsent messages. */
  async stop(): Promise<void> {
    this.aborter.abort();
    await this.running;
  }

  private async sendAll(): Promise<void> {
    const { signal } = this.aborter;
    for (let failures = 0; !signal.aborted;) {
      const record = this.outbox.nextToSend();
      if (!record) return;
      try {
        const message = await this.post(record);
        failures = 0;
        await this.outbox.markSent({ ...message, clientMessageId: record.clientMessageId });
      } catch (error) {
        if (REFUSES_THE_MESSAGE.includes(statusOf(error))) await this.outbox.markFailed(record);
        else if (isRefusal(error)) return this.onRefused(error);
        else {
          await new Pause().wait(retryAfterMsOf(error), signal);
          await this.pause.wait(backoffMs(++failures), signal);
        }
      }
    }
  }

  private async post({ clientMessageId, body, name, email }: OutboxRecord): Promise<Message> {
    const said = { ...(name && { name }), ...(email && { email }) };
    const { message } = await this.session.call<{ message: Message }>('POST', '/messages', {
      clientMessageId,
      body,
      ...said,
    });
    return message;
  }
}
