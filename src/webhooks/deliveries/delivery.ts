import { OutboxEvent } from '../../outbox/event-queue.repository';
import { Target } from '../../queue/target';
import { Subscriber } from '../endpoints/webhook-endpoints.repository';
import { AttemptOutcome } from '../sending/attempt-outcome';

/** A claim's right to attempt ends so soon after it: then no attempt begins after an endpoint's deactivation. */
const START_WITHIN_MS = 1_000;

/** An event under a lease of this process, with the first attempts that are not recorded yet. */
export interface HeldEvent {
  leaseId: string;
  unrecorded: number;
}

/** A row of the pending deliveries under a lease of this process. */
export interface HeldRow {
  leaseId: string;
}

/** A delivery of an event to an endpoint, and how far it is. */
export interface DeliveryState {
  id: string;
  event: OutboxEvent;
  endpoint: Subscriber;
  /** 1, and one more for each redelivery and recovery. */
  round: number;
  /** Attempts of this round that were made. */
  attemptCount: number;
  recovered: boolean;
}

/** How far a new delivery is. */
export const NOT_ATTEMPTED = { round: 1, attemptCount: 0, recovered: false };

/** A delivery that this process has claimed. Only the lease's holder may attempt it. */
export interface Delivery extends DeliveryState {
  /** Where it is: with its event until the first attempt is recorded, then among the pending deliveries. */
  held: { event: HeldEvent } | { row: HeldRow };
  /** On this process's monotonic clock. */
  startBy: number;
}

/** What an attempt leads to. */
export interface AttemptRecord {
  delivery: Delivery;
  /** Null when it was too late to begin. */
  outcome: AttemptOutcome | null;
  status: 'SUCCEEDED' | 'EXHAUSTED' | 'PENDING';
  /** Until the next attempt; null when the round is finished. */
  retryDelayMs: number | null;
}

/** To be read before the claim is committed. */
export function startByFromNow(): number {
  return performance.now() + START_WITHIN_MS;
}

export function targetOf({ endpoint: { tenantId, id }, recovered }: Delivery): Target {
  return { tenantId, id, old: recovered };
}
