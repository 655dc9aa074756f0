/**
 * SQL condition for the messages that are lost replies: not delivered, or perhaps not, and neither sent again
 * nor dismissed. Closing a conversation dismisses its messages. A partial index has the same condition.
 */
export const IS_LOST = `delivery_status IN ('FAILED', 'UNKNOWN') AND dismissed_at IS NULL AND body <> ''`;

/** Status of a lost reply. */
export type LostStatus = 'FAILED' | 'UNKNOWN';
