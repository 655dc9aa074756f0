export type WebhookDeliveryStatus = 'PENDING' | 'SUCCEEDED' | 'EXHAUSTED' | 'CANCELLED';

/** A delivery as lists show it, in whichever place it is. */
export interface DeliveryRow {
  id: string;
  endpointId: string;
  eventId: string;
  eventType: string;
  /** 0 before the delivery has a row: its event is under a lease, for the first attempt. */
  round: number;
  status: WebhookDeliveryStatus;
  /** Null when it is finished, and while an attempt is under way. */
  nextAttemptAt: Date | null;
}

/** A step through one place where deliveries are, newest first. */
export interface SearchStep {
  rows: DeliveryRow[];
  /** The lowest id that the step has looked at; null when none is left below. */
  next: string | null;
}

/**
 * A row that a step has looked at.
 * @property fits whether it passes the filter
 * @property seen how many rows the step has looked at, in each row the same
 */
export type LookedAt = DeliveryRow & { fits: boolean; seen: number };

/** @param size of the step: with fewer rows it was the last */
export function toStep(lookedAt: LookedAt[], size: number): SearchStep {
  const isFull = lookedAt[0]?.seen === size;
  const rows = lookedAt.filter(({ fits }) => fits).map(({ fits: _, seen: __, ...row }) => row);
  return { rows, next: isFull ? lookedAt.at(-1)!.id : null };
}
