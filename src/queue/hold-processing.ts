import type { Logger } from '@nestjs/common';
import type { Queue } from 'bull';

/**
 * Delays the call of `queue.process()` that @nestjs/bull makes in `onModuleInit`, because the worker cannot
 * serve jobs yet. Handles the promise of the call, too, because @nestjs/bull does not. Bull rejects it if a
 * queue is closed while Redis is down, and an unhandled rejection would end the process.
 * @returns a function that makes the delayed call; it throws if no method with `@Process` handles the queue
 */
export function holdProcessing(queue: Queue, logger: Logger): () => void {
  const process = queue.process.bind(queue) as (...args: unknown[]) => Promise<void>;
  const held: unknown[][] = [];
  queue.process = (...args: unknown[]) => {
    held.push(args);
    return Promise.resolve();
  };
  return () => {
    if (held.length === 0) throw new Error(`No @Process handles the queue ${queue.name}.`);
    for (const args of held) {
      process(...args).catch((error: Error) => logger.error({ err: error }, 'the queue has stopped'));
    }
  };
}
