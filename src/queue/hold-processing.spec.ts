import type { Logger } from '@nestjs/common';
import type { Queue } from 'bull';
import { setImmediate as nextTick } from 'node:timers/promises';
import { holdProcessing } from './hold-processing';

describe('holdProcessing', () => {
  const handler = () => Promise.resolve();
  const fakeQueue = (process: Queue['process']) => ({ name: 'fake', process }) as Queue;
  const failures: unknown[] = [];
  const logger = { error: (failure: unknown) => failures.push(failure) } as unknown as Logger;

  it('calls process() when it is started, with the same arguments', () => {
    const calls: unknown[][] = [];
    const queue = fakeQueue((...args: unknown[]) => Promise.resolve(void calls.push(args)));
    const start = holdProcessing(queue, logger);
    void queue.process(20, handler);
    expect(calls).toEqual([]);
    start();
    expect(calls).toEqual([[20, handler]]);
  });

  it('logs the rejection of process()', async () => {
    const error = new Error('Connection is closed.');
    const queue = fakeQueue(() => Promise.reject(error));
    const start = holdProcessing(queue, logger);
    void queue.process(handler);
    start();
    await nextTick();
    expect(failures).toEqual([{ err: error }]);
  });

  it('fails to start a queue without a processor', () => {
    const start = holdProcessing(fakeQueue(handler), logger);
    expect(start).toThrow('No @Process handles the queue fake.');
  });
});
