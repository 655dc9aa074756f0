import { Injectable } from '@nestjs/common';
import { AuditEntriesRepository } from '../audit/audit-entries.repository';
import { HIGHEST_ID, idFloor, idTime, LOWEST_ID } from '../common/ids';
import { ConversationsRepository } from '../conversations/conversations.repository';
import { Transaction } from '../database/transaction';
import { EventsRepository } from '../outbox/events.repository';
import { ContactKey, ErasedMessages } from '../database/tables/table-declaration';
import { TableRegistry } from '../database/tables/table-registry';
import { MessageKey } from './message-status.repository';
import { MessageRange, MessagesRepository } from './messages.repository';
import { UnsentMessagesRepository } from './unsent-messages.repository';

/**
 * Time in milliseconds after which copies are looked for once more. By then all work that began before an
 * erasure has ended and is recorded. The attempts of a delivery take 182 s at most: 62 s of pauses and six
 * leases of 20 s. One of an outbound message takes 60 s. The counts of limits in Redis, which name visitors,
 * have expired too.
 */
export const SETTLE_MS = 240_000;
/** Number of events whose answers are erased at once when a message is unsent. A worker erases the rest. */
const ANSWERS = 200;

/** Result of a step through a range of ids. */
export interface ErasedStep {
  /** Number of messages that the step erased; those that were erased before do not count. */
  erased: number;
  /** Id after which the next step begins; null after the last. */
  next: string | null;
}

/**
 * Erases messages and every copy of them, and keeps ids, times and directions. An erased message has an empty
 * body, which no other message has. The body of its event is empty too, so that a later retry, redelivery or
 * recovery delivers an empty one. A message that waits to be sent is not sent any more. The answers of
 * receivers to events of the conversation are copies as well. Each table erases its own part, in the order of
 * locks that every other transaction keeps.
 */
@Injectable()
export class MessageEraser {
  constructor(
    private readonly conversations: ConversationsRepository,
    private readonly messages: MessagesRepository,
    private readonly events: EventsRepository,
    private readonly entries: AuditEntriesRepository,
    private readonly unsent: UnsentMessagesRepository,
    private readonly tables: TableRegistry,
  ) {}

  /**
   * Erases the messages and events of a range, up to `count` ids, the oldest first. A repeated step changes
   * nothing.
   * @param contactId contact that is erased too. With LOWEST_ID as the conversation, the step is about the
   *   events of the contact itself
   */
  async eraseStep(
    tx: Transaction,
    range: MessageRange,
    count: number,
    contactId?: string,
  ): Promise<ErasedStep> {
    const { tenantId, conversationId } = range;
    const entityId = conversationId === LOWEST_ID && contactId ? contactId : conversationId;
    const { next, ...listed } = await this.list(tx, range, entityId, count);
    const withContact = contactId !== undefined;
    if (listed.eventIds.length === 0 && !withContact) return { erased: 0, next };
    const erased = await this.erase(tx, { tenantId, conversationId, ...listed, withContact });
    return { erased, next };
  }

  /**
   * Erases a message that its customer has unsent. A worker later erases the answers that receivers still
   * give.
   * @param texts texts that it had, which drafts lose too
   */
  async eraseUnsent(tx: Transaction, key: MessageKey, texts: string[]): Promise<void> {
    const { tenantId, conversationId, messageId } = key;
    const ids = [messageId];
    const after = idFloor(idTime(messageId));
    await this.eraseAnswers(tx, { tenantId, conversationId, after, before: HIGHEST_ID }, ANSWERS);
    await this.erase(tx, { tenantId, conversationId, ids, eventIds: ids, withContact: false, unsent: texts });
    await this.unsent.insert(tx, key, after, SETTLE_MS);
  }

  /**
   * Erases the answers of receivers to the events of a range, up to `count` events, the oldest first.
   * @returns where the next step begins; null after the last
   */
  async eraseAnswers(tx: Transaction, range: MessageRange, count: number): Promise<string | null> {
    const { tenantId, conversationId } = range;
    const { eventIds, next } = await this.list(tx, range, conversationId, count);
    const found = { tenantId, conversationId, ids: [], eventIds, withContact: false };
    for (const erasure of this.tables.listErasures()) await erasure.eraseUnlocked?.(tx, found);
    return next;
  }

  /**
   * Erases a contact's own rows, up to `count` of each table.
   * @returns whether there may be more
   */
  async eraseContact(tx: Transaction, contact: ContactKey, count: number): Promise<boolean> {
    for (const erasure of this.tables.listErasures())
      if (await erasure.eraseContact?.(tx, contact, count)) return true;
    return false;
  }

  /** Erases messages, and returns how many had a text. */
  private async erase(tx: Transaction, found: ErasedMessages): Promise<number> {
    const erasures = this.tables.listErasures();
    for (const erasure of erasures) await erasure.eraseUnlocked?.(tx, found);
    await this.conversations.lock(tx, found.tenantId, found.conversationId);
    const beingSent: string[] = [];
    for (const erasure of erasures) beingSent.push(...((await erasure.cancel?.(tx, found)) ?? []));
    let erased = 0;
    for (const erasure of erasures) erased += (await erasure.eraseMessages?.(tx, found, beingSent)) ?? 0;
    for (const erasure of erasures) await erasure.eraseCopies?.(tx, found);
    return erased;
  }

  /**
   * Lists the first `count` ids of a range: of messages, of events of the conversation or the contact, and of
   * the entity's audit entries. The event of a message or of an entry has the same id.
   */
  private async list(
    tx: Transaction,
    range: MessageRange,
    entityId: string,
    count: number,
  ): Promise<{ ids: string[]; eventIds: string[]; next: string | null }> {
    const { tenantId, conversationId } = range;
    const ids = await this.messages.listIds(tx, range, count);
    const events =
      conversationId === LOWEST_ID
        ? await this.events.listNextIds(tx, tenantId, { contactId: entityId }, range, count)
        : await this.events.listNextIds(tx, tenantId, { conversationId }, range, count);
    const entries = await this.entries.listNextIds(tx, tenantId, entityId, range, count);
    const eventIds = [...new Set([...ids, ...events, ...entries])].sort().slice(0, count);
    if (eventIds.length < count) return { ids, eventIds, next: null };
    const last = eventIds.at(-1)!;
    return { ids: ids.filter((id) => id <= last), eventIds, next: last };
  }
}
