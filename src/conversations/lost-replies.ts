/**
 * Condition of a row of messages that is a lost reply: it was not delivered, or perhaps not, and nobody has
 * sent it again, dismissed it, or closed its conversation since. It is that of an index.
 */
export const IS_LOST = `delivery_status IN ('FAILED', 'UNKNOWN') AND dismissed_at IS NULL AND body <> ''`;

/** Status of a lost reply. */
export type LostStatus = 'FAILED' | 'UNKNOWN';
