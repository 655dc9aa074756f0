import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ConversationKey } from '../../database/tables/table-declaration';
import { PresenceStore, Reply, TYPING_MS } from './presence-store';

/** Names of a visitor's signs. The first is followed by the visitor's digest. */
export const VISITOR_ONLINE = 'ONLINE';
export const VISITOR_TYPING = 'TYPING';

/** Milliseconds for which a visitor is online after a heartbeat. */
const ONLINE_MS = 45_000;
/** Milliseconds for which a visitor is online after the last page: the next page may follow at once. */
const LEAVING_MS = 5_000;

/** Visitor of a widget: the widget's connection and the visitor's id on it. */
export interface VisitorAddress {
  connectionId: string;
  externalId: string;
}

/** Keeps where visitors of the widget are, and tells them of agents who type, without the database. */
@Injectable()
export class VisitorPresence {
  constructor(private readonly store: PresenceStore) {}

  /** Notes that a visitor has a page open, in the visitor's conversation. */
  async stay(conversation: ConversationKey, visitor: VisitorAddress): Promise<void> {
    await this.store.change(conversation, [[signOf(visitor), ONLINE_MS]]);
  }

  /** Notes that a visitor's last page here was closed. */
  async leave(conversation: ConversationKey, visitor: VisitorAddress): Promise<void> {
    const signs: [string, number][] = [
      [VISITOR_TYPING, 0],
      [signOf(visitor), LEAVING_MS],
    ];
    await this.store.change(conversation, signs, signOf(visitor));
  }

  /**
   * Notes that a visitor types, or has ended. It changes nothing unless the visitor is online in the
   * conversation, so the id of another conversation is of no use.
   */
  async type(conversation: ConversationKey, visitor: VisitorAddress, isTyping: boolean): Promise<void> {
    await this.store.change(conversation, [[VISITOR_TYPING, isTyping ? TYPING_MS : 0]], signOf(visitor));
  }

  /**
   * Calls back when an agent types to the visitor of a conversation, or has ended.
   * @returns a function that stops it
   */
  listenToReplies(conversation: ConversationKey, callback: (reply: Reply) => void): () => void {
    return this.store.listenToReplies(conversation, callback);
  }

  /** Reports whether an agent of the workspace has an inbox open. */
  areAgentsOnline(tenantId: string): Promise<boolean> {
    return this.store.isInboxOpen(tenantId);
  }
}

function signOf(visitor: VisitorAddress): string {
  return `${VISITOR_ONLINE} ${digestOfVisitor(visitor)}`;
}

/** Names a visitor in Redis, which may keep a log: the id may be an e-mail address. */
export function digestOfVisitor({ connectionId, externalId }: VisitorAddress): string {
  return createHash('sha256').update(`${connectionId} ${externalId}`).digest('base64url');
}
