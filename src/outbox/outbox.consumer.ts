import type { Reader } from '../database/database';
import { Transaction } from '../database/transaction';
import { ClaimedEvent, ClaimHandler, OutboxEvent } from './event-queue.repository';

/**
 * Reacts to relayed events, by rows of its own or by work that it starts. Only one consumer may have the SQL
 * of a `ClaimHandler`.
 */
export interface OutboxConsumer extends ClaimHandler {
  /** Name of the consumer, which is stored with the events that are parked for it. */
  readonly name: string;

  /**
   * Reads or locks the rows that the consumer needs for these workspaces' events, in the claim's transaction.
   * The consumer must send its statements before it first waits, because they share a packet with the claim.
   */
  prepareConsumer(tx: Transaction, tenantIds: string[]): Promise<ConsumeEvents>;

  /**
   * Returns how many of the workspace's events the consumer can process in one turn. If it is undefined, the
   * consumer can process any number.
   * @param isOverdue whether the consumer must accept events even if it cannot start their work at once
   * @param workspaces number of workspaces that share the turn
   */
  limitOf?(tenantId: string, isOverdue: boolean, workspaces: number): number;

  /** Reports whether the workspace's events should wait up to a second, because their work cannot start. */
  isBusy?(tenantId: string): boolean;

  /** Ends work that waits for an event, because an operator has given up the event for this consumer. */
  giveUp?(tx: Transaction, event: OutboxEvent): Promise<void>;
}

/** Decides which work claimed events cause. It must be safe to process an event twice. */
export type ConsumeEvents = (reader: Reader, events: ClaimedEvent[]) => EventWork | Promise<EventWork>;

/** Work that a consumer has for claimed events. */
export interface EventWork {
  /** Ids of the events that stay in the queue under their lease, because work for them starts. */
  kept?: Set<string>;

  /** Inserts the consumer's rows. They commit together with other consumers' rows and the queue's change. */
  write?(tx: Transaction): void | Promise<void>;

  /** Starts the work after the commit of all rows. If they do not commit, releases the reserved slots. */
  end?(isCommitted: boolean): void;
}
