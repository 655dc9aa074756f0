import type { Logger } from '@nestjs/common';
import type { Queue } from 'bull';

/**
 * Delays the call of `queue.process()` that @nestjs/bull makes in `onModuleInit`, when the worker cannot
 * serve jobs yet. It also handles the promise of that call, which @nestjs/bull ignores. Bull rejects the
 * promise when a queue is closed while Redis is down, and an unhandled rejection would end the process.
 * @returns a function that starts the processing of jobs; it throws if the queue has no `@Process`
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
