import type { Logger } from '@nestjs/common';
import type { Queue } from 'bull';

/**
 * Holds back the `queue.process()` that @nestjs/bull calls for `@Process` in onModuleInit: jobs would start
 * before the worker can serve them. It also handles the promise that @nestjs/bull drops: Bull rejects it when
 * a queue is closed while Redis is down, and an unhandled rejection ends the process.
 * @returns a function that starts the processing
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
