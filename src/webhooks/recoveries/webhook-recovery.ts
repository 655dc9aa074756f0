/** Filter as JSON, with dates as text. */
export type StoredFilter = Record<string, string | boolean>;

/** Progress of one recovery, so that any worker can continue it. */
export interface WebhookRecovery {
  tenantId: string;
  id: string;
  endpointId: string;
  /** Filter of the deliveries to be repeated; null for a recovery of missed events. */
  filter: StoredFilter | null;
  /** Earliest time of an event, inclusive; null for a filter without that bound. */
  since: Date | null;
  /** Time at which the recovery was started. Later events are delivered anyway, so it repeats none. */
  until: Date;
  /** Whether deliveries are still being made, all are made, or the recovery was ended before that. */
  status: 'RUNNING' | 'COMPLETED' | 'CANCELLED';
  /** Number of deliveries, counted at the start. */
  total: number;
  /** Whether all deliveries were counted; false if counting stopped because there were too many. */
  isTotalComplete: boolean;
  /** Number of deliveries made so far. */
  recovered: number;
  /** Number of its deliveries that succeeded; null, as the next two, for one of an earlier version. */
  succeeded: number | null;
  /** Number of its deliveries that were given up. */
  exhausted: number | null;
  cancelled: number | null;
  /** Whether none of its deliveries is pending, or will be. */
  isSettled: boolean;
  /** Last event that was checked, or last delivery for a recovery with a filter. */
  cursor: string;
  /** Actor as an `audit.event` names it; null for a recovery of an earlier version. */
  startedBy: string | null;
  createdAt: Date;
  /** Time at which it was cancelled, all deliveries were made, or the last of them ended. */
  finishedAt: Date | null;
}
