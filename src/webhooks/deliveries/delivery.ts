import { OutboxEvent } from '../../outbox/event-queue.repository';
import { Target } from '../../queue/target';
import { Subscriber } from '../endpoints/webhook-endpoints.repository';
import { AttemptOutcome } from '../sending/attempt-outcome';

/** Event under a lease of this process, with the number of its first attempts that are not recorded yet. */
export interface HeldEvent {
  leaseId: string;
  unrecorded: number;
}

/** Row of the pending deliveries, under a lease of this process. */
export interface HeldRow {
  leaseId: string;
}

/** Delivery of an event to an endpoint, and its progress. */
export interface DeliveryState {
  id: string;
  event: OutboxEvent;
  endpoint: Subscriber;
  /** Number of the round. Each redelivery and each recovery begins a new one, from 1 on. */
  round: number;
  /** Number of attempts made in this round. */
  attemptCount: number;
  /** Whether a recovery made it pending. Recovered deliveries give way to live ones. */
  recovered: boolean;
}

/** Progress of a new delivery. */
export const NOT_ATTEMPTED = { round: 1, attemptCount: 0, recovered: false };

/** Delivery that this process has claimed. Only the lease's holder may attempt it. */
export interface Delivery extends DeliveryState {
  /**
   * Lease of the delivery: that of its event until the first attempt is recorded, then that of its pending
   * row.
   */
  held: { event: HeldEvent } | { row: HeldRow };
  /** Time until which an attempt may start, on this process's monotonic clock. */
  startBy: number;
}

/** Consequence of an attempt. */
export interface AttemptRecord {
  delivery: Delivery;
  /** Outcome of the attempt; null when it was too late to begin. */
  outcome: AttemptOutcome | null;
  status: 'SUCCEEDED' | 'EXHAUSTED' | 'PENDING';
  /** Time until the next attempt; null when the round is finished. */
  retryDelayMs: number | null;
}

/**
 * Returns the target of an endpoint's live or recovered deliveries. Recovered ones are its background work.
 */
export function targetOf({ tenantId, id }: { tenantId: string; id: string }, recovered: boolean): Target {
  return { tenantId, id, isBackground: recovered };
}

/** Reports whether a target is for recovered deliveries. */
export function takesRecovered({ isBackground = false }: Target): boolean {
  return isBackground;
}
