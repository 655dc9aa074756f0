import type { OnApplicationShutdown } from '@nestjs/common';
import type { Queue } from 'bull';
import { setTimeout as sleep } from 'node:timers/promises';
import { clearSocketTimeoutOnClose } from '../redis/socket-timeout';

const BULL_MAY_TAKE_MS = 1_500;

/**
 * Closes a queue once the jobs that run in this process have ended. Bull is asked to take no more, but is not waited
 * for beyond that: when its connections have only just begun it may never be done, and while Redis is away the time is
 * better left to the deliveries under way, which are waited for after this.
 */
export async function closeQueue(
  queue: Queue & Partial<OnApplicationShutdown>,
  running: Iterable<Promise<unknown>>,
): Promise<void> {
  for (const client of queue.clients) clearSocketTimeoutOnClose(client);
  const closed = queue.close();
  // Nest's own hook would wait for Bull once more, and without end.
  queue.onApplicationShutdown = () => undefined;
  await Promise.allSettled(running);
  if (queue.client.status !== 'ready') return;
  await Promise.race([closed, sleep(BULL_MAY_TAKE_MS, undefined, { ref: false })]);
}
