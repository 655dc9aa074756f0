import { waitFor } from './wait';
import { ServiceProcess } from './service-process';
import type { TestStores } from './test-database';

interface Work {
  /** Counts the finished things. */
  count: () => Promise<number>;
  /** Numbers at which a worker is killed, each in its own turn. */
  kills: number[];
  /** Number that a killed worker must not have reached. */
  all: number;
  withinMs: number;
  /** Done once each worker has started. */
  onStart?: () => Promise<unknown>;
}

/** Starts one worker after the other, and kills each amid its work. */
export async function killWorkers(stores: TestStores, work: Work): Promise<void> {
  const { count, kills, all, withinMs, onStart } = work;
  for (const enough of kills) {
    const worker = await ServiceProcess.start('worker', stores);
    await onStart?.();
    await waitFor('some of the work', async () => (await count()) >= enough, withinMs);
    worker.kill('SIGKILL');
    await worker.exited;
    expect(await count()).toBeLessThan(all);
  }
}
