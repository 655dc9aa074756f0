import type { OnApplicationShutdown } from '@nestjs/common';
import type { Queue } from 'bull';
import { setTimeout as sleep } from 'node:timers/promises';

const MAX_CLOSE_MS = 1_500;

/**
 * Closes a queue after all running jobs of this process have ended. Bull's own `close()` may never settle if
 * the connection to Redis is new. So it is awaited for at most 1.5 s, and not at all while Redis is down.
 */
export async function closeQueue(
  queue: Queue & Partial<OnApplicationShutdown>,
  running: Iterable<Promise<unknown>>,
): Promise<void> {
  const closed = queue.close();
  // @nestjs/bull sets this method to one that waits for Bull's `close()` without a limit.
  queue.onApplicationShutdown = () => undefined;
  await Promise.allSettled(running);
  if (queue.client.status !== 'ready') return;
  await Promise.race([closed, sleep(MAX_CLOSE_MS, undefined, { ref: false })]);
}
