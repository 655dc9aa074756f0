/** Both the service and the limits use these. */
export const SECRETS_KEYS = `bench:${Buffer.alloc(32, 1).toString('base64')}`;
export const POOL_SIZE = 20;
/** No load reaches this rate: every request is counted, none is refused. */
export const RATE_LIMIT = 2_000_000_000;
/** What wakes a relay. */
export const OUTBOX_SIGNAL = 'outbox:appended';
/** The text of messages that were sent before the measurement. */
export const OLD_BODY = 'Sent before.';
