import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Transaction } from '../database/transaction';
import { RedisSignals, Signal } from '../redis/redis-signals';

/** Conversations of a workspace; null when more have changed than are named. */
export interface ChangedConversations {
  tenantId: string;
  conversationIds: string[] | null;
}

/** Tells whoever listens to the workspace of changes that have no event. */
export const CHANGED_WITHOUT_EVENT: Signal<ChangedConversations> = { name: 'outbox:eventless' };

/** Time in milliseconds in which changes are collected for one signal. */
const COLLECT_MS = 100;
/** Limit of the conversations that a signal names. */
const MAX_NAMED = 100;
/** Time in milliseconds for which a channel that nobody listens to gets no signal. */
export const UNHEARD_MS = 5_000;

/**
 * Tells open inboxes of changes for which there is no event, such as a message that was delivered, after
 * their commit. It costs a workspace that nobody listens to one signal in five seconds at most. A signal may
 * be lost.
 */
@Injectable()
export class EventlessChanges implements OnApplicationShutdown {
  /** Conversations to tell of, by their workspaces. */
  private collected = new Map<string, Set<string>>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly signals: RedisSignals) {}

  /** Notes that a transaction changes a conversation. */
  note(tx: Transaction, tenantId: string, conversationId: string): void {
    tx.onCommit(() => this.collect(tenantId, conversationId));
  }

  onApplicationShutdown(): void {
    clearTimeout(this.timer);
  }

  private collect(tenantId: string, conversationId: string): void {
    if (this.signals.isUnheard(CHANGED_WITHOUT_EVENT, tenantId)) return;
    const ids = this.collected.get(tenantId) ?? new Set();
    this.collected.set(tenantId, ids);
    if (ids.size <= MAX_NAMED) ids.add(conversationId);
    this.timer ??= setTimeout(() => this.tell(), COLLECT_MS).unref();
  }

  private tell(): void {
    this.timer = undefined;
    const collected = this.collected;
    this.collected = new Map();
    for (const [tenantId, ids] of collected) {
      const conversationIds = ids.size > MAX_NAMED ? null : [...ids];
      this.signals.sendIfHeard(CHANGED_WITHOUT_EVENT, tenantId, { tenantId, conversationIds }, UNHEARD_MS);
    }
  }
}
