import type { Reader } from '../database/database';
import { Transaction } from '../database/transaction';
import { Batch } from '../database/key-list';
import { OutboxEvent, ClaimedEvent } from './event-queue.repository';

/** Reacts to relayed events, by rows of its own or by work that it starts. */
export interface OutboxConsumer {
  /** Name of the consumer, which is stored with the events that are parked for it. */
  readonly name: string;

  /**
   * Reads or locks what the consumer needs for these workspaces' events, in the transaction of the claim. The
   * consumer must send its statements before it first waits, because they share one packet with the claim.
   */
  prepareConsumer(tx: Transaction, tenantIds: string[]): Promise<ConsumeEvents>;

  /**
   * Returns SQL that handles some events as they are claimed, so that they need no further statement. It reads
   * the events from `claimed`, which has the columns of `events`. It returns the `event_id` of each handled
   * event, and a text as `result`, which becomes the event's `result`. One consumer alone may have it.
   */
  handleSql?(batch: Batch): string;

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

  /** Starts the work after the commit of all rows. If they do not commit, frees what the work had reserved. */
  end?(isCommitted: boolean): void;
}
