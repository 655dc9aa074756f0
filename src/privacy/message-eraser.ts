import { Injectable } from '@nestjs/common';
import { ConversationsRepository } from '../conversations/conversations.repository';
import { Transaction } from '../database/transaction';
import { MessageRange, MessagesRepository } from '../messages/messages.repository';
import { TableRegistry } from '../stored-data/table-registry';

/** Result of a step through a range of messages. */
export interface ErasedStep {
  /** Number of messages that the step erased; those that were erased before do not count. */
  erased: number;
  /** Message after which the next step begins; null after the last. */
  next: string | null;
}

/**
 * Erases messages and every copy of them, and keeps ids, times and directions. An erased message has an empty
 * body, which no other message has. The body of its event is empty too, so that a later retry, redelivery or
 * recovery delivers an empty one. A message that waits to be sent is not sent any more. Each table erases its
 * own part, in the order of locks that every other transaction keeps.
 */
@Injectable()
export class MessageEraser {
  constructor(
    private readonly conversations: ConversationsRepository,
    private readonly messages: MessagesRepository,
    private readonly tables: TableRegistry,
  ) {}

  /**
   * Erases up to `count` messages of a range, the oldest first. Erasing again changes nothing.
   * @param withContact whether the contact of the conversation is erased too
   */
  async step(tx: Transaction, range: MessageRange, count: number, withContact = false): Promise<ErasedStep> {
    const { tenantId, conversationId } = range;
    const ids = await this.messages.listIds(tx, range, count);
    const next = ids.length < count ? null : ids.at(-1)!;
    if (ids.length === 0 && !withContact) return { erased: 0, next };
    const found = { tenantId, conversationId, ids, withContact };
    const erasures = this.tables.listErasures();
    for (const erasure of erasures) await erasure.eraseUnlocked?.(tx, found);
    await this.conversations.lock(tx, tenantId, conversationId);
    const beingSent: string[] = [];
    for (const erasure of erasures) beingSent.push(...((await erasure.cancel?.(tx, found)) ?? []));
    let erased = 0;
    for (const erasure of erasures) erased += (await erasure.eraseMessages?.(tx, found, beingSent)) ?? 0;
    for (const erasure of erasures) await erasure.eraseCopies?.(tx, found);
    return { erased, next };
  }
}
