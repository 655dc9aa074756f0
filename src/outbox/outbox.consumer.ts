import { Transaction } from '../database/transaction';
import { EventType } from './event-catalog';
import { OutboxEvent, ClaimedEvent } from './event-queue.repository';

export type HasSubscriber = (tenantId: string, type: EventType) => boolean;

/** Reacts to relayed events by inserting rows into tables of its own. */
export interface OutboxConsumer {
  /** Name of the consumer, which is stored with the events that are parked for it. */
  readonly name: string;

  /** Reads the data that the consumer needs for these workspaces' events, in the relay's transaction. */
  prepareConsumer(tx: Transaction, tenantIds: string[]): Promise<PreparedConsumer>;

  /**
   * Guesses the result of `limitOf` before the consumer is prepared, so that the relay can claim events
   * during the preparation. A wrong guess only costs time.
   * @param workspaces number of workspaces that share the transaction
   * @returns null if the consumer cannot guess
   */
  guessLimit?(tenantId: string, isOverdue: boolean, workspaces: number): number | null;

  /** Reports whether the workspace's events should wait up to a second, because their work cannot start. */
  isBusy?(tenantId: string): boolean;

  /** Ends work that waits for an event, because an operator has given up the event for this consumer. */
  giveUp?(tx: Transaction, event: OutboxEvent): Promise<void>;
}

export interface PreparedConsumer {
  /**
   * Returns how many of the workspace's events the consumer can process in this transaction.
   * @param isOverdue whether the consumer must accept events even if it cannot start their work at once
   */
  limitOf(tenantId: string, isOverdue: boolean): number;

  /** Reports whether a workspace had a subscriber to a type. Undefined if the consumer has no subscribers. */
  hasSubscriber?: HasSubscriber;

  /**
   * Processes events in the relay's transaction, so that the consumer's rows and the change of the queue
   * commit together. It must be safe to process an event twice.
   * @param hasSubscriber reports whether any consumer has a subscriber; null if no consumer has subscribers
   * @returns the ids of events that stay in the queue under their lease, because work for them goes on
   */
  consume(events: ClaimedEvent[], hasSubscriber: HasSubscriber | null): Promise<Set<string>>;
}
