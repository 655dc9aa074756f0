/** The keys of the service's secrets. */
export const SECRETS_KEYS = `bench:${Buffer.alloc(32, 1).toString('base64')}`;
export const POOL_SIZE = 20;
/** No load reaches this rate: every request is counted, none is refused. */
export const RATE_LIMIT = 2_000_000_000;
/** Wakes a relay. */
export const OUTBOX_SIGNAL = 'outbox:appended';
/** The text of messages that are sent in a measurement. */
export const BODY = 'It is on its way, and should be with you on Tuesday.';
/** The text of messages that were sent before the measurement. */
export const OLD_BODY = 'Sent before.';

/** Returns an environment variable of a process that the benchmark started. */
export function environmentVariable(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is missing.`);
  return value;
}
