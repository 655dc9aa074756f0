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
 * Milliseconds from an erasure to the second search for copies of the erased messages. By then all work that
 * began before the erasure has ended, and its results are stored. A webhook delivery's attempts take at most
 * 182 s: 62 s of backoff and six leases of 20 s. An attempt to send an outbound message takes at most 60 s.
 * Rate-limit counters in Redis whose keys name visitors have expired by then.
 */
export const SETTLE_MS = 240_000;
/**
 * Maximum number of events whose stored webhook responses are erased in the transaction that unsends a
 * message. A worker erases the responses to further events.
 */
const ANSWERS = 200;

export interface ErasedStep {
  /** Number of messages that this call erased, without those that were erased before. */
  erased: number;
  /** Id after which the next call begins; null if this call was the last. */
  next: string | null;
}

/**
 * Erases messages with every copy of them, except their ids, times and senders. The body of an erased message
 * is empty, and no other message has an empty body. The body in its event becomes empty, so that later
 * webhook deliveries contain no text. A message that waits to be sent is never sent. Responses of webhook
 * receivers may repeat texts, so they are erased like copies. The declaration of each table has the code that
 * erases its rows. The tables are erased in the order in which every transaction locks them.
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
   * Erases the oldest `count` messages and events of a range. A second call with the same range does no harm.
   * @param contactId contact that is being erased, if any. If the range's conversation is LOWEST_ID, the
   *   contact's own events are erased
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
   * Erases a message that its customer has unsent. A worker later erases the responses of webhook receivers
   * that arrive after this call.
   * @param texts present and former texts of the message; drafts that quote them are erased
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
   * Erases the stored responses of webhook receivers to the oldest `count` events of a range.
   * @returns id after which the next call begins; null if this call was the last
   */
  async eraseAnswers(tx: Transaction, range: MessageRange, count: number): Promise<string | null> {
    const { tenantId, conversationId } = range;
    const { eventIds, next } = await this.list(tx, range, conversationId, count);
    const found = { tenantId, conversationId, ids: [], eventIds, withContact: false };
    for (const erasure of this.tables.listErasures()) await erasure.eraseUnlocked?.(tx, found);
    return next;
  }

  /**
   * Erases a contact's own rows, up to `count` rows of each table.
   * @returns whether more rows may be left
   */
  async eraseContact(tx: Transaction, contact: ContactKey, count: number): Promise<boolean> {
    for (const erasure of this.tables.listErasures())
      if (await erasure.eraseContact?.(tx, contact, count)) return true;
    return false;
  }

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
   * Lists the lowest `count` ids of a range. `ids` has the ids of messages. `eventIds` has these too, and the
   * ids of other events and of audit entries about `entityId`. A message and an audit entry have the id of
   * their event.
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
