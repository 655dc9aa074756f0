import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ConversationKey } from '../../database/tables/table-declaration';
import { PresenceStore, Reply, TYPING_MS } from './presence-store';

/** Names of a visitor's signs of presence. A digest of the visitor's id follows `ONLINE`. */
export const VISITOR_ONLINE = 'ONLINE';
export const VISITOR_TYPING = 'TYPING';

const ONLINE_MS = 45_000;
/** Milliseconds for which a visitor stays online after the last page closed, because another may open. */
const LEAVING_MS = 5_000;

export interface VisitorAddress {
  connectionId: string;
  externalId: string;
}

/** Stores in Redis which visitors have a conversation open, and notifies them of agents who type. */
@Injectable()
export class VisitorPresence {
  constructor(private readonly store: PresenceStore) {}

  /** Records for 45 s that a visitor has a page with the conversation open. */
  async stay(conversation: ConversationKey, visitor: VisitorAddress): Promise<void> {
    await this.store.change(conversation, [[signOf(visitor), ONLINE_MS]]);
  }

  /** Records that a visitor's last page with the conversation was closed. */
  async leave(conversation: ConversationKey, visitor: VisitorAddress): Promise<void> {
    const signs: [string, number][] = [
      [VISITOR_TYPING, 0],
      [signOf(visitor), LEAVING_MS],
    ];
    await this.store.change(conversation, signs, signOf(visitor));
  }

  /**
   * Records that a visitor types, or has stopped. Does nothing unless the visitor is online in the
   * conversation, so that a visitor cannot type into another's conversation.
   */
  async type(conversation: ConversationKey, visitor: VisitorAddress, isTyping: boolean): Promise<void> {
    await this.store.change(conversation, [[VISITOR_TYPING, isTyping ? TYPING_MS : 0]], signOf(visitor));
  }

  /**
   * Calls back when an agent types to the visitor of a conversation, or has stopped.
   * @returns a function that stops the calls
   */
  listenToReplies(conversation: ConversationKey, callback: (reply: Reply) => void): () => void {
    return this.store.listenToReplies(conversation, callback);
  }

  areAgentsOnline(tenantId: string): Promise<boolean> {
    return this.store.isInboxOpen(tenantId);
  }
}

function signOf(visitor: VisitorAddress): string {
  return `${VISITOR_ONLINE} ${digestOfVisitor(visitor)}`;
}

/** Returns a digest that names a visitor in Redis, because the visitor's id may be an e-mail address. */
export function digestOfVisitor({ connectionId, externalId }: VisitorAddress): string {
  return createHash('sha256').update(`${connectionId} ${externalId}`).digest('base64url');
}
