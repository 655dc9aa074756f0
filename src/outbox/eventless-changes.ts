import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Transaction } from '../database/transaction';
import { RedisSignals, Signal } from '../redis/redis-signals';

/** Read mark of an agent in a conversation, and whether the agent counts it as unread now. */
export interface ChangedReadMark {
  agentId: string;
  conversationId: string;
  isUnread: boolean;
  /** Whether it is unread because the conversation was handed over to the agent. */
  isHandedOver?: boolean;
}

export interface ChangedConversation {
  conversationId: string;
  /** Event of the change; left out for a change without one. */
  eventId?: string;
  /** Whether a reply has got on its way to the customer, and nothing else has changed. */
  isProgress?: boolean;
}

/** Change of rows that inboxes show, by their ids. Only the agent's own inboxes show a read mark. */
export type InboxChange = ChangedConversation | { contactId: string } | { readMark: ChangedReadMark };

/** Changes of a workspace; null when there are more than a signal names. */
interface EventlessChangesSignal {
  tenantId: string;
  changes: InboxChange[] | null;
}

/** Tells whoever listens to the workspace of changes that have no event. */
export const CHANGED_WITHOUT_EVENT: Signal<EventlessChangesSignal> = { name: 'outbox:eventless' };

/** Time in milliseconds in which changes are collected for one signal. */
const COLLECT_MS = 100;
/** Limit of the changes that a signal names. */
const MAX_NAMED = 100;
/** Time in milliseconds for which a channel without a listener gets no signal. */
export const UNHEARD_MS = 5_000;

/**
 * Tells open inboxes of changes that have no event, after their commit: a message was delivered, or an agent
 * has read a conversation. A workspace without a listener costs one signal in five seconds at most. A signal
 * may be lost.
 */
@Injectable()
export class EventlessChanges implements OnApplicationShutdown {
  /** Changes to tell of, each once, by their workspaces. */
  private collected = new Map<string, Map<string, InboxChange>>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly signals: RedisSignals) {}

  note(tx: Transaction, tenantId: string, change: InboxChange): void {
    tx.onCommit(() => this.collect(tenantId, change));
  }

  onApplicationShutdown(): void {
    clearTimeout(this.timer);
  }

  private collect(tenantId: string, change: InboxChange): void {
    if (this.signals.isUnheard(CHANGED_WITHOUT_EVENT, tenantId)) return;
    const changes = this.collected.get(tenantId) ?? new Map<string, InboxChange>();
    this.collected.set(tenantId, changes);
    if (changes.size <= MAX_NAMED) changes.set(JSON.stringify(change), change);
    this.timer ??= setTimeout(() => this.tell(), COLLECT_MS).unref();
  }

  private tell(): void {
    this.timer = undefined;
    const collected = this.collected;
    this.collected = new Map();
    for (const [tenantId, named] of collected) {
      const changes = named.size > MAX_NAMED ? null : [...named.values()];
      this.signals.sendIfHeard(CHANGED_WITHOUT_EVENT, tenantId, { tenantId, changes }, UNHEARD_MS);
    }
  }
}
