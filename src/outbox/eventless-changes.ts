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

/** Change that inboxes show, named by the ids of the changed rows. Only its own agent sees a read mark. */
export type InboxChange = ChangedConversation | { contactId: string } | { readMark: ChangedReadMark };

/** Message of a signal. `changes` is null if the workspace has more than 100 changes. */
interface EventlessChangesSignal {
  tenantId: string;
  changes: InboxChange[] | null;
}

/** Redis signal of changes that have no event. */
export const CHANGED_WITHOUT_EVENT: Signal<EventlessChangesSignal> = { name: 'outbox:eventless' };

/** Milliseconds for which committed changes are collected, so that one signal reports them together. */
const COLLECT_MS = 100;
const MAX_NAMED = 100;
/** Milliseconds for which a workspace is sent no signal after a signal that no process listened to. */
export const UNHEARD_MS = 5_000;

/**
 * Reports to open inboxes, by Redis signals, committed changes that no event reports, such as that an agent
 * has read a conversation. A signal may be lost. For a workspace without an open inbox, at most one signal in
 * 5 seconds is sent.
 */
@Injectable()
export class EventlessChanges implements OnApplicationShutdown {
  /** Changes for the next signals, by workspace and by JSON text, so that a signal has no change twice. */
  private collected = new Map<string, Map<string, InboxChange>>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly signals: RedisSignals) {}

  note(tx: Transaction, tenantId: string, change: InboxChange): void {
    tx.onCommit(() => this.noteCommitted(tenantId, change));
  }

  onApplicationShutdown(): void {
    clearTimeout(this.timer);
  }

  noteCommitted(tenantId: string, change: InboxChange): void {
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
