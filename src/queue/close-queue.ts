import type { OnApplicationShutdown } from '@nestjs/common';
import type { Queue } from 'bull';
import { setTimeout as sleep } from 'node:timers/promises';

const MAX_CLOSE_MS = 1_500;

/**
 * Closes a queue and waits for the jobs that run in this process. Bull's own `close()` gets little time: it
 * may never settle after a recent connect, and while Redis is down the running jobs need the time.
 */
export async function closeQueue(
  queue: Queue & Partial<OnApplicationShutdown>,
  running: Iterable<Promise<unknown>>,
): Promise<void> {
  const closed = queue.close();
  // The hook of @nestjs/bull would wait for Bull again, without a limit.
  queue.onApplicationShutdown = () => undefined;
  await Promise.allSettled(running);
  if (queue.client.status !== 'ready') return;
  await Promise.race([closed, sleep(MAX_CLOSE_MS, undefined, { ref: false })]);
}
