/** Filter as JSON, with dates as text. */
export type StoredFilter = Record<string, string | boolean>;

/** Recovery with its stored progress, from which any worker can continue it. */
export interface WebhookRecovery {
  tenantId: string;
  id: string;
  endpointId: string;
  /** Filter of the deliveries to be repeated; null for a recovery of missed events. */
  filter: StoredFilter | null;
  /** Earliest time of an event, inclusive; null for a filter without that bound. */
  since: Date | null;
  /** Time before which the events were made: at the latest the time at which the recovery started. */
  until: Date;
  /**
   * RUNNING while deliveries are made, COMPLETED when all are made, CANCELLED if a person or a deactivation
   * ended the recovery before all were made.
   */
  status: 'RUNNING' | 'COMPLETED' | 'CANCELLED';
  /** Number of deliveries, counted at the start. */
  total: number;
  /** Whether all deliveries were counted; false if counting stopped because there were too many. */
  isTotalComplete: boolean;
  recovered: number;
  /** Number of succeeded deliveries. All three counts are null if an earlier version made the recovery. */
  succeeded: number | null;
  exhausted: number | null;
  cancelled: number | null;
  /** Whether none of the recovery's deliveries is pending or will become pending. */
  isSettled: boolean;
  /** Part of an automatic recovery: a round, or a probe with one delivery; null if a person started it. */
  automatic: 'ROUND' | 'PROBE' | null;
  /** Number of deliveries that have failed since the last one that succeeded. */
  failedInRow: number;
  /** Id of the last event that was read or, with a filter, of the last delivery. */
  cursor: string;
  /** Actor as an `audit.event` names it; null if an earlier version made the recovery. */
  startedBy: string | null;
  createdAt: Date;
  /**
   * Time of the cancellation. Otherwise the time at which all deliveries were made, replaced by the time at
   * which the last of them ended.
   */
  finishedAt: Date | null;
}
