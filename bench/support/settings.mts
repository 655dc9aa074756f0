/** Value of SECRETS_KEYS, with which the service encrypts the secrets of endpoints. */
export const SECRETS_KEYS = `bench:${Buffer.alloc(32, 1).toString('base64')}`;
export const POOL_SIZE = 20;
/**
 * Rate limit of every workspace, in requests a minute. No load reaches it: every request is counted, none
 * refused.
 */
export const RATE_LIMIT = 2_000_000_000;
/** Name of the Redis channel on which the service signals new events to a relay. */
export const OUTBOX_SIGNAL = 'outbox:event';
/** Text of messages that are sent during a measurement. */
export const BODY = 'It is on its way, and should be with you on Tuesday.';
/** Returns the text of a message whose arrival is measured from its request, at a time in milliseconds. */
export const bodyAskedAt = (ms: number): string => `${BODY} ${ms}`;
/** Text of messages that are older than the measurement. */
export const OLD_BODY = 'Sent before.';

/**
 * Returns an environment variable. Throws if it is missing, because the benchmark's main process must set it.
 */
export function environmentVariable(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is missing.`);
  return value;
}
