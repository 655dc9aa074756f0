import type Redis from 'ioredis';

const PROBE_MS = 2_000;
/** Nothing has this key, so to delete it changes nothing. A replica refuses it all the same. */
const NO_KEY = 'primary:probe';

/**
 * `reconnectOnError` of every client that writes. After a failover an open connection may still lead to the old primary,
 * which is a replica now: it answers, and refuses every write with READONLY. A new connection to the same address leads
 * to the new primary.
 */
export function reconnectOnReadOnly({ message }: Error): boolean {
  return message.includes('READONLY'); // Redis 6 has it in the middle when the write was in a script
}

/**
 * Sends a write that changes nothing every 2 s, for a client whose own commands do not show that it is connected to a
 * replica: a replica accepts PUBLISH, and has no listeners of the new primary's.
 * @returns ends it
 */
export function probeForPrimary(redis: Redis): () => void {
  const timer = setInterval(() => {
    // Its error has done its work by now, in `reconnectOnError`.
    if (redis.status === 'ready') redis.del(NO_KEY).catch(() => undefined);
  }, PROBE_MS);
  timer.unref();
  return () => clearInterval(timer);
}
