import { Transaction } from '../database/transaction';
import { EventType } from './event-catalog';
import { OutboxEvent, ClaimedEvent } from './event-queue.repository';

export type HasSubscriber = (tenantId: string, type: EventType) => boolean;

/** Reacts to relayed events by inserting rows into tables of its own. */
export interface OutboxConsumer {
  /** Name that parked events store for the consumer. */
  readonly name: string;

  /**
   * Reads the data that the consumer needs for events of these workspaces, in the relay's transaction and
   * concurrently with other consumers.
   */
  prepareConsumer(tx: Transaction, tenantIds: string[]): Promise<PreparedConsumer>;

  /**
   * Guesses the result of `limitOf` before the consumer is prepared, so that the claim does not wait for the
   * preparation. A wrong guess costs only time.
   * @param workspaces number of workspaces that share the transaction
   * @returns null if the consumer cannot guess
   */
  guessLimit?(tenantId: string, isOverdue: boolean, workspaces: number): number | null;

  /**
   * Reports whether the workspace's events should wait up to a second, because their work could not start.
   */
  isBusy?(tenantId: string): boolean;

  /** Ends work that waits for an event which an operator has given up. */
  giveUp?(tx: Transaction, event: OutboxEvent): Promise<void>;
}

export interface PreparedConsumer {
  /**
   * Returns how many of the workspace's events the consumer can process in this transaction.
   * @param isOverdue whether the consumer must accept events even if it cannot start their work at once
   */
  limitOf(tenantId: string, isOverdue: boolean): number;

  /**
   * Reports whether events of a type had a subscriber when the consumer was prepared. A consumer without
   * subscriptions leaves it undefined.
   */
  hasSubscriber?: HasSubscriber;

  /**
   * Processes events in the relay's transaction, so that its rows commit with the relay's. It must be safe to
   * repeat.
   * @param hasSubscriber checks the subscribers of all consumers; null if no consumer has any
   * @returns the ids of events that stay in the queue under their lease, because their work goes on
   */
  consume(events: ClaimedEvent[], hasSubscriber: HasSubscriber | null): Promise<Set<string>>;
}
