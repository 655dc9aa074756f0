/**
 * Longer than an attempt can take. When a lease expires, as after a worker was killed, any worker may claim the
 * delivery.
 */
export const LEASE = `interval '20 seconds'`;

/** The delivery `d` is due and has no running lease. */
export const IS_DUE = `d.status = 'PENDING' AND d.next_attempt_at <= now() AND (d.lease_until IS NULL OR d.lease_until < now())`;
