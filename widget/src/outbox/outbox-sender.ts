import { isRefusedRequest, reasonOf } from '../protocol/service-client';
import type { Message } from '../protocol/types';
import type { VisitorSession } from '../session/visitor-session';
import type { Outbox } from './outbox';
import type { OutboxRecord } from './outbox-record';
import { RetriedWork } from './retried-work';
import { takeBack } from './take-back';

/** Sends the unsent messages of one visitor, and takes cancelled ones back: one at a time, oldest first. */
export class OutboxSender {
  private readonly work: RetriedWork;

  constructor(
    private readonly outbox: Outbox,
    private readonly session: VisitorSession,
    onRefused: (error: unknown) => void,
  ) {
    this.work = new RetriedWork(() => this.sendNext(), onRefused);
  }

  /** Sends the waiting messages. Ends a wait after a failure, except a wait that `Retry-After` demands. */
  wake(): void {
    this.work.wake();
  }

  /** Stops sending. Resolves once no request is in flight, so that the caller may move unsent messages. */
  stop(): Promise<void> {
    return this.work.stop();
  }

  private async sendNext(): Promise<boolean> {
    const record = this.outbox.nextToSend();
    if (!record) return false;
    if (record.state === 'cancelled') return takeBack(record, this.outbox, this.session);
    try {
      const message = await this.post(record);
      await this.outbox.markSent({ ...message, clientMessageId: record.clientMessageId });
      if (this.outbox.isCancelled(record)) return await takeBack(record, this.outbox, this.session);
    } catch (error) {
      // Only this message is refused. The next message may still be accepted.
      if (!isRefusedRequest(error)) throw error;
      const reason = reasonOf(error);
      if (reason.startsWith('upload_') && !record.isRepeated) await this.outbox.uploadAgain(record);
      else await this.outbox.markFailed(record, reason === 'file_type_refused' ? 'fileRefused' : undefined);
    }
    return true;
  }

  private async post({ clientMessageId, body, files, name, email }: OutboxRecord): Promise<Message> {
    const { message } = await this.session.call<{ message: Message }>('POST', '/messages', {
      clientMessageId,
      ...(body && { body }),
      ...(files && { attachments: files.map(({ uploadId }) => ({ uploadId })) }),
      ...(name && { name }),
      ...(email && { email }),
    });
    return message;
  }
}
