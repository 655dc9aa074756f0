import { Injectable } from '@nestjs/common';
import { HIGHEST_ID } from '../common/ids';
import { Transaction } from '../database/transaction';
import { MessageEraser } from '../messages/message-eraser';
import { MessageKey } from '../messages/message-status.repository';
import { UnsentMessagesRepository } from '../messages/unsent-messages.repository';
import { BEFORE_ALL_DUE } from '../queue/polling/due-position';
import { StepOutcome } from '../queue/polling/fair-items';
import { WorkRunner } from '../queue/polling/work-runner';

const BATCH = 200;
/** Milliseconds between steps, so that erasures do not slow other work. */
const PAUSE_MS = 10;

/**
 * Erases the answers of webhook receivers to a conversation's events after the arrival of a message that the
 * customer has unsent. The answers may repeat the message's text.
 */
@Injectable()
export class UnsentMessageRunner {
  constructor(
    runner: WorkRunner,
    private readonly unsent: UnsentMessagesRepository,
    private readonly eraser: MessageEraser,
  ) {
    runner.register({
      name: 'unsent messages',
      search: { first: BEFORE_ALL_DUE, find: (after, server) => unsent.findDue(after, server) },
      size: BATCH,
      pauseMs: PAUSE_MS,
      step: (tx, key, size) => this.step(tx, key, size),
    });
  }

  private async step(tx: Transaction, key: MessageKey, size: number): Promise<StepOutcome> {
    const after = await this.unsent.lockDue(tx, key);
    if (after === null) return 'waiting';
    const { tenantId, conversationId } = key;
    const range = { tenantId, conversationId, after, before: HIGHEST_ID };
    const next = await this.eraser.eraseAnswers(tx, range, size);
    await this.unsent.advance(tx, key, next);
    return next === null ? 'done' : 'more';
  }
}
