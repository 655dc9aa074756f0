import type { OnApplicationShutdown } from '@nestjs/common';
import type { Queue } from 'bull';
import { setTimeout as sleep } from 'node:timers/promises';

const BULL_MAY_TAKE_MS = 1_500;

/**
 * Closes a queue once the jobs that run in this process have ended. Bull is asked to take no more, but is not waited
 * for beyond that: while Redis is away, or its connections have only just begun, it may never be done.
 */
export async function closeQueue(
  queue: Queue & Partial<OnApplicationShutdown>,
  running: Iterable<Promise<unknown>>,
): Promise<void> {
  const closed = queue.close();
  // Nest's own hook would wait for Bull once more, and without end.
  queue.onApplicationShutdown = () => undefined;
  await Promise.allSettled(running);
  await Promise.race([closed, sleep(BULL_MAY_TAKE_MS, undefined, { ref: false })]);
}
