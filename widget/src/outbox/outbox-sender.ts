import { backoffMs } from '../protocol/backoff';
import { Pause } from '../protocol/pause';
import { isRefusal, retryAfterMsOf, statusOf } from '../protocol/service-client';
import type { Message } from '../protocol/types';
import type { VisitorSession } from '../session/visitor-session';
import type { Outbox } from './outbox';
import type { OutboxRecord } from './outbox-record';

/** Statuses of an answer that refuses this message only: another message may be accepted. */
const REFUSES_THE_MESSAGE = [400, 413, 422];

/** Sends the outbox of one visitor in order, one message at a time, until the service has each. */
export class OutboxSender {
  private readonly pause = new Pause();
  private readonly aborter = new AbortController();
  private running: Promise<void> | null = null;

  constructor(
    private readonly outbox: Outbox,
    private readonly session: VisitorSession,
    private readonly onRefused: (error: unknown) => void,
  ) {}

  /** Sends the waiting messages. After a failure it tries again at once instead of pausing. */
  wake(): void {
    this.pause.cut();
    if (!this.aborter.signal.aborted) this.running ??= this.sendAll().finally(() => (this.running = null));
  }

  /**
   * Stops sending. Resolves when no request is in flight any more: only then may another visitor take over
   * the unsent messages.
   */
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
