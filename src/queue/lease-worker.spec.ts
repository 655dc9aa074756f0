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
});
