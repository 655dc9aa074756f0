export type WebhookDeliveryStatus = 'PENDING' | 'SUCCEEDED' | 'EXHAUSTED' | 'CANCELLED';

export interface DeliveryRow {
  id: string;
  endpointId: string;
  eventId: string;
  eventType: string;
  /** Number of times that it was begun: 1, and 1 more for each redelivery; 0 if it has no row yet. */
  round: number;
  status: WebhookDeliveryStatus;
  /** Time of the next attempt; null when the delivery is finished, and while an attempt is under way. */
  nextAttemptAt: Date | null;
}

export interface SearchStep {
  rows: DeliveryRow[];
  /** Cursor for the next read, which returns lower ids; null if no delivery is left. */
  next: string | null;
}

/** `fits`: whether the row passes the filter; `seen`: number of all rows that the query has read. */
export type LookedAt = DeliveryRow & { fits: boolean; seen: number };

/** Returns the rows that fit. If fewer than `size` rows were read, no more rows exist, so `next` is null. */
export function toStep(lookedAt: LookedAt[], size: number): SearchStep {
  const isFull = lookedAt[0]?.seen === size;
  const rows = lookedAt.filter(({ fits }) => fits).map(({ fits: _, seen: __, ...row }) => row);
  return { rows, next: isFull ? lookedAt.at(-1)!.id : null };
}
