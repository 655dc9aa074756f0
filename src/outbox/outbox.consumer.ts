import { Transaction } from '../database/transaction';
import { EventType } from './event-catalog';
import { OutboxEvent, ClaimedEvent } from './event-queue.repository';

/** Reports whether a workspace's events of a type have a subscriber. */
export type HasSubscriber = (tenantId: string, type: EventType) => boolean;

/** Reacts to events by writing rows of its own. */
export interface OutboxConsumer {
  /** Name of the consumer among parked events. */
  readonly name: string;

  /**
   * Prepares for events of some workspaces. It runs in the relay's transaction, concurrently with the other
   * consumers.
   */
  prepareConsumer(tx: Transaction, tenantIds: string[]): Promise<PreparedConsumer>;

  /**
   * Guesses the limit that `limitOf` will return once the consumer is prepared, so that the claim need not
   * wait for the preparation. A wrong guess costs only time.
   * @returns null when the consumer can't tell
   */
  guessLimit?(tenantId: string, isOverdue: boolean, workspaces: number): number | null;

  /**
   * Reports whether the workspace's events should wait up to a second, because the consumer could not work on
   * them at once.
   */
  isBusy?(tenantId: string): boolean;

  /** Ends work that waits for an event which an operator has given up. */
  giveUp?(tx: Transaction, event: OutboxEvent): Promise<void>;
}

export interface PreparedConsumer {
  /**
   * Returns how many of the workspace's events the consumer can handle in this transaction.
   * @param isOverdue whether they have waited so long that the consumer takes them even if it can't work on
   *   them at once
   */
  limitOf(tenantId: string, isOverdue: boolean): number;

  /**
   * Reports whether events of a type had a subscriber when this consumer was prepared. A consumer that passes
   * no events on leaves it out.
   */
  hasSubscriber?: HasSubscriber;

  /**
   * Handles events in the relay's transaction, so that the consumer's rows and the relay's commit together.
   * Handling an event again changes nothing.
   * @param hasSubscriber asks all consumers of the turn; null when none of them knows
   * @returns the ids of events that stay in the queue under their lease, because the consumer goes on with
   *   them
   */
  consume(events: ClaimedEvent[], hasSubscriber: HasSubscriber | null): Promise<Set<string>>;
}
