import type Redis from 'ioredis';

const PROBE_MS = 2_000;
/**
 * Name of a key that never exists, so to delete it changes nothing. A replica refuses the command all the
 * same.
 */
const NO_KEY = 'primary:probe';

/**
 * Decides, as `reconnectOnError` of every client that writes, whether an error calls for a new connection.
 * After a failover an open connection may still lead to the old primary, which is a replica now: it answers,
 * and refuses every write with READONLY. A new connection to the same address leads to the new primary.
 */
export function reconnectOnReadOnly({ message }: Error): boolean {
  return message.includes('READONLY'); // Redis 6 has it in the middle when the write was in a script
}

/**
 * Sends a write that changes nothing every 2 s, for a client whose own commands do not show that it is
 * connected to a replica: a replica accepts PUBLISH, but the subscribers are at the new primary.
 * @returns a function that ends it
 */
export function probeForPrimary(redis: Redis): () => void {
  const timer = setInterval(() => {
    // A failure has had its effect in `reconnectOnError` already.
    if (redis.status === 'ready') redis.del(NO_KEY).catch(() => undefined);
  }, PROBE_MS);
  timer.unref();
  return () => clearInterval(timer);
}
