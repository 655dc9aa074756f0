import { Injectable, Logger } from '@nestjs/common';
import { AuditService } from '../audit/audit.service';
import { HIGHEST_ID, LOWEST_ID } from '../common/ids';
import { SYSTEM } from '../access/principal';
import { ContactConversationsRepository } from '../conversations/contact-conversations.repository';
import { Transaction } from '../database/transaction';
import { BEFORE_ALL_DUE } from '../queue/polling/due-position';
import { StepOutcome } from '../queue/polling/fair-items';
import { WorkRunner } from '../queue/polling/work-runner';
import { EventlessChanges } from '../outbox/eventless-changes';
import { ContactErasure, ContactErasureKey, ContactErasuresRepository } from './contact-erasures.repository';
import { MessageEraser, SETTLE_MS } from '../messages/message-eraser';

/** Maximum messages and other events that one step erases. */
const BATCH = 200;
/** Maximum rows of the contact outside conversations that one step erases in each table. */
const ROWS = 50;
/** Milliseconds between steps, so that erasures do not slow other work. */
const PAUSE_MS = 10;

/**
 * Erases contacts in small steps: all messages of all their conversations, one conversation after another.
 * Some minutes later it does all this once more, because work in progress may have written copies meanwhile.
 */
@Injectable()
export class ContactErasureRunner {
  private readonly logger = new Logger(ContactErasureRunner.name);

  constructor(
    runner: WorkRunner,
    private readonly erasures: ContactErasuresRepository,
    private readonly conversations: ContactConversationsRepository,
    private readonly messages: MessageEraser,
    private readonly audit: AuditService,
    private readonly changes: EventlessChanges,
  ) {
    runner.register({
      name: 'erasures',
      search: { first: BEFORE_ALL_DUE, find: (after, server) => erasures.findDue(after, server) },
      size: BATCH,
      pauseMs: PAUSE_MS,
      step: (tx, erasure, size) => this.step(tx, erasure, size),
    });
  }

  private async step(tx: Transaction, key: ContactErasureKey, size: number): Promise<StepOutcome> {
    const erasure = await this.erasures.lockDue(tx, key);
    if (!erasure) return 'waiting';
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

  private async advance(tx: Transaction, erasure: ContactErasure): Promise<'more'> {
    await this.erasures.advance(tx, erasure);
    return 'more';
  }

  /**
   * Ends the first or the second run through a contact's conversations. Erases the contact's own rows once
   * more, because a message may have written some just before the erasure began. Appends an audit entry after
   * the first run, so that the second run also erases receivers' answers to the entry's event.
   */
  private async endPass(tx: Transaction, erasure: ContactErasure): Promise<StepOutcome> {
    const { tenantId, id: erasureId, contactId, status, messages } = erasure;
    if (await this.messages.eraseContact(tx, { tenantId, contactId }, ROWS)) return 'more';
    const start = { conversationId: LOWEST_ID, messageId: LOWEST_ID };
    if (status === 'SETTLING') {
      await this.erasures.advance(tx, { ...erasure, ...start, status: 'COMPLETED', finishedAt: new Date() });
      return 'done';
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
    return 'done';
  }
}
