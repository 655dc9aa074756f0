import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Transaction } from '../database/transaction';
import { RedisSignals, Signal } from '../redis/redis-signals';

export interface ChangedReadMark {
  agentId: string;
  conversationId: string;
  isUnread: boolean;
  /** Whether the conversation is unread because it was handed over to the agent. */
  isHandedOver?: boolean;
}

export interface ChangedConversation {
  conversationId: string;
  eventId?: string;
  /** Whether the only change is the delivery status of a reply. */
  isProgress?: boolean;
}

/** Change that inboxes show, by ids of rows. Only an agent's own inboxes show the agent's read mark. */
export type InboxChange = ChangedConversation | { contactId: string } | { readMark: ChangedReadMark };

/** Changes of a workspace; null if there are more than 100. */
interface EventlessChangesSignal {
  tenantId: string;
  changes: InboxChange[] | null;
}

/** Redis signal of changes that have no event. */
export const CHANGED_WITHOUT_EVENT: Signal<EventlessChangesSignal> = { name: 'outbox:eventless' };

/** Milliseconds for which changes are collected for one signal. */
const COLLECT_MS = 100;
const MAX_NAMED = 100;
/** Milliseconds for which no signal is sent to a Redis channel that had no listener. */
export const UNHEARD_MS = 5_000;

/**
 * Sends open inboxes Redis signals of committed changes that no event reports, such as that an agent has read
 * a conversation. A workspace without an open inbox costs at most one signal in 5 seconds. A signal may be
 * lost.
 */
@Injectable()
export class EventlessChanges implements OnApplicationShutdown {
  /** Changes for the next signals, by workspace and by the change's JSON text. */
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
