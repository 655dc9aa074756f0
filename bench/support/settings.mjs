/** What the service and the limits are both started with. */
export const SECRETS_KEYS = `bench:${Buffer.alloc(32, 1).toString('base64')}`;
export const POOL_SIZE = 20;
/** Requests a minute that no load reaches: every one is counted, and none is refused. */
export const RATE_LIMIT = 2_000_000_000;
/** What the relay of the service listens to. */
export const OUTBOX_CHANNEL = 'outbox:appended';
