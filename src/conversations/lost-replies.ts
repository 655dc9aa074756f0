/**
 * SQL condition for lost replies: messages that were not delivered, or whose delivery is unknown. A reply
 * that was sent again or dismissed is no longer lost, and has `dismissed_at`. An erased message has no text,
 * and is not counted as lost. A partial index has the same condition.
 */
export const IS_LOST = `delivery_status IN ('FAILED', 'UNKNOWN') AND dismissed_at IS NULL AND body <> ''`;

export type LostStatus = 'FAILED' | 'UNKNOWN';
