import { Injectable, Logger, OnModuleInit } from '@nestjs/common';
import { AuditService } from '../audit/audit.service';
import { HIGHEST_ID, LOWEST_ID } from '../common/ids';
import { StepRounds } from '../queue/polling/step-rounds';
import { SYSTEM } from '../access/principal';
import { ContactConversationsRepository } from '../conversations/contact-conversations.repository';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { Polls } from '../queue/polling/polls';
import { EventlessChanges } from '../outbox/eventless-changes';
import { TableRegistry } from '../database/tables/table-registry';
import { ContactErasure, ContactErasureKey, ContactErasuresRepository } from './contact-erasures.repository';
import { MessageEraser, SETTLE_MS } from '../messages/message-eraser';

/** Number of messages and other events that one step erases. */
const BATCH = 200;
/** Number of a contact's rows outside conversations that one step erases in each table. */
const ROWS = 50;
/** Pause between steps, so that erasing slows no other work. */
const PAUSE_MS = 10;

/**
 * Runs erasures in small steps: all messages of all conversations of a contact, one conversation after the
 * other, and once more after work that was under way has settled. Rows and progress commit together, so that
 * another worker continues the erasure of a killed one.
 */
@Injectable()
export class ContactErasureRunner implements OnModuleInit {
  private readonly logger = new Logger(ContactErasureRunner.name);
  private readonly rounds = new StepRounds<ContactErasureKey>({
    size: BATCH,
    pauseMs: PAUSE_MS,
    list: () => this.erasures.listDue(),
    keyOf: ({ id }) => id,
    step: (erasure, size) => this.database.queueTransaction((tx) => this.step(tx, erasure, size)),
    onError: ({ tenantId, id: erasureId }, err, messages) =>
      this.logger.error(
        { err, tenantId, erasureId, messages },
        'a step of an erasure failed; it will be retried',
      ),
  });

  constructor(
    private readonly database: Database,
    private readonly erasures: ContactErasuresRepository,
    private readonly conversations: ContactConversationsRepository,
    private readonly messages: MessageEraser,
    private readonly tables: TableRegistry,
    private readonly audit: AuditService,
    private readonly changes: EventlessChanges,
    private readonly polls: Polls,
  ) {}

  onModuleInit(): void {
    this.polls.register('erasures', () => this.rounds.run(() => this.polls.areHeld));
  }

  private async step(tx: Transaction, key: ContactErasureKey, size: number): Promise<boolean> {
    const erasure = await this.erasures.lockDue(tx, key);
    if (!erasure) return false;
    const { tenantId, contactId, conversationId, messageId: after } = erasure;
    const range = { tenantId, conversationId, after, before: HIGHEST_ID };
    const { erased, next } = await this.messages.eraseStep(tx, range, size, contactId);
    if (erased > 0) this.changes.note(tx, tenantId, { conversationId });
    const done = { ...erasure, messages: erasure.messages + erased };
    if (next !== null) return this.advance(tx, { ...done, messageId: next });
    const contact = { tenantId, contactId };
    const [following] = await this.conversations.listByContact(tx, contact, conversationId, 1);
    if (following === undefined) return this.endPass(tx, done);
    return this.advance(tx, { ...done, conversationId: following, messageId: LOWEST_ID });
  }

  private async advance(tx: Transaction, erasure: ContactErasure): Promise<true> {
    await this.erasures.advance(tx, erasure);
    return true;
  }

  /**
   * Ends a pass through the contact's conversations. It first erases the contact's own rows again, because a
   * message may have written to them just before the erasure began. The first pass tells of itself, so that
   * the second also erases what receivers answer to that.
   * @returns whether there are more of these rows to erase now
   */
  private async endPass(tx: Transaction, erasure: ContactErasure): Promise<boolean> {
    const { tenantId, id: erasureId, contactId, status, messages } = erasure;
    for (const erasure of this.tables.listErasures())
      if (await erasure.eraseContact?.(tx, { tenantId, contactId }, ROWS)) return true;
    const start = { conversationId: LOWEST_ID, messageId: LOWEST_ID };
    if (status === 'SETTLING') {
      await this.erasures.advance(tx, { ...erasure, ...start, status: 'COMPLETED', finishedAt: new Date() });
      return false;
    }
    const dueAt = new Date(Date.now() + SETTLE_MS);
    await this.erasures.advance(tx, { ...erasure, ...start, status: 'SETTLING', dueAt });
    this.audit.appendPipelined(tx, {
      tenantId,
      actor: SYSTEM,
      action: 'contact.erased',
      entity: 'contact',
      entityId: contactId,
      metadata: { erasureId, messages },
    });
    tx.onCommit(() => this.logger.log({ tenantId, erasureId, messages }, 'a contact was erased'));
    return false;
  }
}
