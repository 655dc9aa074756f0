import { OutboxEvent } from '../../outbox/event-queue.repository';
import { Target } from '../../queue/target';
import { Subscriber } from '../endpoints/webhook-endpoints.repository';
import { AttemptOutcome } from '../sending/attempt-outcome';

/** An event under a lease of this process, and the number of its first attempts that are not recorded yet. */
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
  /** Whether a recovery made it pending. It gives way to live deliveries. */
  recovered: boolean;
}

/** The progress of a new delivery. */
export const NOT_ATTEMPTED = { round: 1, attemptCount: 0, recovered: false };

/** A delivery that this process has claimed. Only the lease's holder may attempt it. */
export interface Delivery extends DeliveryState {
  /** Where it is: with its event until the first attempt is recorded, then among the pending deliveries. */
  held: { event: HeldEvent } | { row: HeldRow };
  /** Until when an attempt may start, on this process's monotonic clock. */
  startBy: number;
}

/** The consequence of an attempt. */
export interface AttemptRecord {
  delivery: Delivery;
  /** Null when it was too late to begin. */
  outcome: AttemptOutcome | null;
  status: 'SUCCEEDED' | 'EXHAUSTED' | 'PENDING';
  /** The time until the next attempt; null when the round is finished. */
  retryDelayMs: number | null;
}

/** Returns the target of an endpoint's live or recovered deliveries. Recovered ones are its background work. */
export function targetOf({ tenantId, id }: { tenantId: string; id: string }, recovered: boolean): Target {
  return { tenantId, id, isBackground: recovered };
}

/** Reports whether a target is for recovered deliveries. */
export function takesRecovered({ isBackground = false }: Target): boolean {
  return isBackground;
}
