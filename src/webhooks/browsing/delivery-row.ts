export type WebhookDeliveryStatus = 'PENDING' | 'SUCCEEDED' | 'EXHAUSTED' | 'CANCELLED';

/** Delivery for lists, wherever it is stored. */
export interface DeliveryRow {
  id: string;
  endpointId: string;
  eventId: string;
  eventType: string;
  /** Round of the delivery; 0 during the first attempt, before the delivery has a row. */
  round: number;
  status: WebhookDeliveryStatus;
  /** Time of the next attempt; null when the delivery is finished, and while an attempt is under way. */
  nextAttemptAt: Date | null;
}

/** Result of one step of a search, newest first. */
export interface SearchStep {
  rows: DeliveryRow[];
  /** Lowest id that the step has read; null when no delivery is below it. */
  next: string | null;
}

/**
 * Row that a step of a search has read.
 * @property fits whether the row passes the filter
 * @property seen number of rows that the step has read, equal in all of them
 */
export type LookedAt = DeliveryRow & { fits: boolean; seen: number };

/**
 * Makes the result of a step from the rows that it has read.
 * @param size number of rows after which the step ends; a step that has read fewer is the last
 */
export function toStep(lookedAt: LookedAt[], size: number): SearchStep {
  const isFull = lookedAt[0]?.seen === size;
  const rows = lookedAt.filter(({ fits }) => fits).map(({ fits: _, seen: __, ...row }) => row);
  return { rows, next: isFull ? lookedAt.at(-1)!.id : null };
}
