import { Transaction } from '../database/transaction';
import { OutboxEvent, QueuedEvent } from './event-queue.repository';

/** What reacts to events, by writing rows of its own. */
export interface OutboxConsumer {
  /** Names it among parked events. */
  readonly name: string;

  /** Prepares for events of some workspaces. Runs in the relay's transaction, concurrently with the other consumers. */
  prepare(tx: Transaction, tenantIds: string[]): Promise<PreparedConsumer>;

  /** Whether the workspace's events had better wait a moment: the consumer could not work on them at once. */
  isBusy?(tenantId: string): boolean;

  /** Ends what waits for an event that an operator has given up. */
  giveUp?(tx: Transaction, event: OutboxEvent): Promise<void>;
}

export interface PreparedConsumer {
  /**
   * How many events of the workspace the consumer takes in with this transaction.
   * @param isOverdue they have waited long enough: the consumer takes them in also if it can't work on them at once
   */
  limitOf(tenantId: string, isOverdue: boolean): number;

  /**
   * Takes events in. Its rows commit with the relay's. Taking an event in again changes nothing.
   * @returns the ids of events that stay under their lease, because the consumer goes on with them
   */
  consume(events: QueuedEvent[]): Promise<Set<string>>;
}
