/**
 * SQL condition for lost replies: messages that were not delivered, or whose delivery is unknown. A reply
 * that was sent again or dismissed has `dismissed_at`, and is no longer lost. An erased message has no text,
 * and does not count as lost. A partial index has the same condition.
 */
export const IS_LOST = `delivery_status IN ('FAILED', 'UNKNOWN') AND dismissed_at IS NULL AND body <> ''`;

export type LostStatus = 'FAILED' | 'UNKNOWN';
