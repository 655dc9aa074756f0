/**
 * SQL condition for lost replies: messages that were not delivered, or perhaps not, and were neither sent
 * again nor dismissed. A partial index has the same condition.
 */
export const IS_LOST = `delivery_status IN ('FAILED', 'UNKNOWN') AND dismissed_at IS NULL AND body <> ''`;

export type LostStatus = 'FAILED' | 'UNKNOWN';
