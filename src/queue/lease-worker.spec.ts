import { Logger } from '@nestjs/common';
import { waitFor } from '../../test/support/wait';
import { CONCURRENT_CLAIMS, LeaseWorker } from './lease-worker';
import { StartCapacity } from './start-capacity';

describe('lease worker', () => {
  it('claims for others while the claims of many targets hang', async () => {
    const claimed: string[] = [];
    const capacity = new StartCapacity({ total: 1_000, perTarget: 1, slow: 1_000 }, { isTrusted: true });
    const worker = new LeaseWorker<never>(capacity, {
      logger: new Logger('test'),
      claim: ({ id }) => {
        claimed.push(id);
        return id === 'works' ? Promise.resolve([]) : new Promise(() => {});
      },
      process: () => Promise.resolve(),
      wakeOtherWorkers: () => {},
    });
    worker.wake(Array.from({ length: CONCURRENT_CLAIMS }, (_, n) => ({ tenantId: 'ill', id: `${n}` })));
    worker.wake([{ tenantId: 'well', id: 'works' }]);
    await waitFor('the claim', () => claimed.includes('works'));
  });

  it('wakes other workers for a target without a slot, and for none that only waits for its claim', () => {
    const woken: string[] = [];
    const capacity = new StartCapacity({ total: 1_000, perTarget: 1, slow: 1_000 }, { isTrusted: true });
    const worker = new LeaseWorker<never>(capacity, {
      logger: new Logger('test'),
      claim: () => new Promise(() => {}),
      process: () => Promise.resolve(),
      wakeOtherWorkers: ({ id }) => woken.push(id),
    });
    const full = { tenantId: 'tenant', id: 'full' };
    capacity.acquire(full);
    worker.wake(
      Array.from({ length: CONCURRENT_CLAIMS + 1 }, (_, n) => ({ tenantId: 'tenant', id: `${n}` })),
    );
    worker.wake([full]);
    expect(woken).toEqual(['full']);
  });
});
