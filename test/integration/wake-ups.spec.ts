import { setTimeout as sleep } from 'node:timers/promises';
import { DeliverySweeper } from '../../src/webhooks/delivery.sweeper';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { subscribe, waitForDeliveries } from '../support/subscription';

const ROUNDS = 60;
const LONGEST_GAP_MS = 6;

it('loses no wake-up that comes while the endpoint’s job is active, and needs no sweeper for it', async () => {
  const service = await TestService.create({ role: 'all' });
  const receiver = await Receiver.start();
  try {
    await service.app.get(DeliverySweeper, { strict: false }).beforeApplicationShutdown();
    const { workspace, conversation, endpoint } = await subscribe(service, receiver);
    // Two events, a little less or more apart: some of the second ones meet the first one's job.
    for (let round = 1; round <= ROUNDS; round++) {
      await service.make.received(workspace, conversation);
      await sleep(round % LONGEST_GAP_MS);
      await service.make.received(workspace, conversation);
      await waitForDeliveries(service, endpoint, 'SUCCEEDED', round * 2);
    }
  } finally {
    await service.close();
    await receiver.stop();
  }
}, 60_000);
