import { Injectable, Logger, OnModuleInit } from '@nestjs/common';
import { HIGHEST_ID } from '../common/ids';
import { StepRounds } from '../queue/polling/step-rounds';
import { Database } from '../database/database';
import { Polls } from '../queue/polling/polls';
import { Transaction } from '../database/transaction';
import { MessageEraser } from '../messages/message-eraser';
import { MessageKey } from '../messages/message-status.repository';
import { UnsentMessagesRepository } from '../messages/unsent-messages.repository';

/** Number of events whose answers one step erases. */
const BATCH = 200;
/** Time after a failure until a message's next step. */
const RETRY_MS = 60_000;
/** Pause between steps, so that erasing slows no other work. */
const PAUSE_MS = 10;

/**
 * Erases what receivers have answered to events of a conversation since a message was stored that its
 * customer has unsent: they may repeat its text. Each step commits with its progress, so that another worker
 * continues the work of a killed one.
 */
@Injectable()
export class UnsentMessageRunner implements OnModuleInit {
  private readonly logger = new Logger(UnsentMessageRunner.name);
  private readonly rounds = new StepRounds<MessageKey>({
    size: BATCH,
    pauseMs: PAUSE_MS,
    list: () => this.unsent.listDue(),
    keyOf: ({ messageId }) => messageId,
    step: (key, size) =>
      this.database
        .queueTransaction((tx) => this.step(tx, key, size))
        .catch((error: unknown) => this.postpone(key, error)),
    onError: ({ tenantId, messageId }, err) =>
      this.logger.error({ err, tenantId, messageId }, 'answers were not erased; it will be retried'),
  });

  constructor(
    private readonly database: Database,
    private readonly unsent: UnsentMessagesRepository,
    private readonly eraser: MessageEraser,
    private readonly polls: Polls,
  ) {}

  onModuleInit(): void {
    this.polls.register('unsent messages', () => this.rounds.run(() => this.polls.areHeld));
  }

  /** Lets a message whose step has failed wait, so that the others of all workspaces get theirs. */
  private async postpone(key: MessageKey, error: unknown): Promise<never> {
    await this.database.queueTransaction((tx) => this.unsent.postpone(tx, key, RETRY_MS));
    throw error;
  }

  private async step(tx: Transaction, key: MessageKey, size: number): Promise<boolean> {
    const after = await this.unsent.lockDue(tx, key);
    if (after === null) return false;
    const { tenantId, conversationId } = key;
    const range = { tenantId, conversationId, after, before: HIGHEST_ID };
    const next = await this.eraser.eraseAnswers(tx, range, size);
    await this.unsent.advance(tx, key, next);
    return next !== null;
  }
}
