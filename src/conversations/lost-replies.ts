/**
 * SQL condition for messages that are lost replies: not delivered, or perhaps not, and neither sent again nor
 * dismissed. Closing a conversation dismisses its messages. The condition must equal that of the partial
 * index on lost replies.
 */
export const IS_LOST = `delivery_status IN ('FAILED', 'UNKNOWN') AND dismissed_at IS NULL AND body <> ''`;

export type LostStatus = 'FAILED' | 'UNKNOWN';
