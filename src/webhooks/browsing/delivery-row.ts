export type WebhookDeliveryStatus = 'PENDING' | 'SUCCEEDED' | 'EXHAUSTED' | 'CANCELLED';

/** Delivery as lists show it, wherever it is stored. */
export interface DeliveryRow {
  id: string;
  endpointId: string;
  eventId: string;
  eventType: string;
  /**
   * Round of the delivery; 0 while it has no row, because its event is under a lease for the first attempt.
   */
  round: number;
  status: WebhookDeliveryStatus;
  /** Time of the next attempt; null when the delivery is finished, and while an attempt is under way. */
  nextAttemptAt: Date | null;
}

/** Step through one place where deliveries are, newest first. */
export interface SearchStep {
  rows: DeliveryRow[];
  /** Lowest id that the step has looked at; null when no delivery is below it. */
  next: string | null;
}

/**
 * Row that a step has looked at.
 * @property fits whether the row passes the filter
 * @property seen how many rows the step has looked at, the same in each row
 */
export type LookedAt = DeliveryRow & { fits: boolean; seen: number };

/**
 * Makes a step of the rows that a statement has looked at.
 * @param size of the step: with fewer rows it was the last one
 */
export function toStep(lookedAt: LookedAt[], size: number): SearchStep {
  const isFull = lookedAt[0]?.seen === size;
  const rows = lookedAt.filter(({ fits }) => fits).map(({ fits: _, seen: __, ...row }) => row);
  return { rows, next: isFull ? lookedAt.at(-1)!.id : null };
}
