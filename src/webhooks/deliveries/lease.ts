/**
 * How long a claimed delivery is left to its claimer: longer than an attempt can take. After that, as when a worker was
 * killed, it is anyone's again.
 */
export const LEASE = `interval '20 seconds'`;

/** A delivery `d` whose turn it is, and that is nobody's. */
export const IS_DUE = `d.status = 'PENDING' AND d.next_attempt_at <= now() AND (d.lease_until IS NULL OR d.lease_until < now())`;
