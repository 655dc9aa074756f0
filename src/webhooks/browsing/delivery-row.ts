export type WebhookDeliveryStatus = 'PENDING' | 'SUCCEEDED' | 'EXHAUSTED' | 'CANCELLED';

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

export interface SearchStep {
  rows: DeliveryRow[];
  /** Lowest id that the step has read; null when no delivery is below it. */
  next: string | null;
}

/** `fits`: whether the row passes the filter; `seen`: number of rows that the step has read. */
export type LookedAt = DeliveryRow & { fits: boolean; seen: number };

/** Makes a step's result from its rows. A step of fewer than `size` rows is the last. */
export function toStep(lookedAt: LookedAt[], size: number): SearchStep {
  const isFull = lookedAt[0]?.seen === size;
  const rows = lookedAt.filter(({ fits }) => fits).map(({ fits: _, seen: __, ...row }) => row);
  return { rows, next: isFull ? lookedAt.at(-1)!.id : null };
}
