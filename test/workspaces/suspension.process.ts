import { SYSTEM } from '../../src/access/principal';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { MessagingHost } from '../support/messaging-host';
import { Receiver } from '../support/receiver';
import { ServiceProcess } from '../support/service-process';
import { letTimePass, waitFor } from '../support/wait';
import { waitForDeliveries } from '../support/stored-deliveries';
import { subscribe } from '../support/webhook-workspace';

/** Time of several polls, in which one would have found what is due. */
const SEVERAL_POLLS_MS = 2_500;
/** Longest time between a claim and the start of its attempt. */
const START_WITHIN_MS = 1_000;
/** Longest time between an attempt's start and its request, on a busy machine. */
const ARRIVES_WITHIN_MS = 1_000;

describe('a suspension while workers deliver', () => {
  it('lets no attempt begin in any process, through kills too, and loses nothing', async () => {
    const host = await MessagingHost.create();
    const receiver = await Receiver.start();
    const arrivals: number[] = [];
    receiver.https.respond = (response) => {
      arrivals.push(performance.now());
      response.end('ok');
    };
    let workers = [
      await ServiceProcess.start('worker', host.stores),
      await ServiceProcess.start('worker', host.stores),
    ];
    try {
      const subscription = await subscribe(host, receiver, { events: ['message.created'] });
      const { workspace } = subscription;
      const endpoints = [subscription.endpoint];
      for (let n = 0; n < 4; n++) endpoints.push(await subscription.addEndpoint(receiver.url()));
      let isWriting = true;
      let written = 0;
      const writing = (async () => {
        while (isWriting) {
          await subscription.message();
          written += 1;
        }
      })();
      await waitFor('deliveries', () => arrivals.length > 50);

      await host.get(WorkspacesService).suspend(workspace.id, SYSTEM);
      const returnedAt = performance.now();
      const leases = await leasesOf(host, workspace);
      const writtenBefore = written;
      workers[0]!.kill('SIGKILL');
      workers[0] = await ServiceProcess.start('worker', host.stores);
      await waitFor('messages meanwhile', () => written > writtenBefore + 30);
      await letTimePass(SEVERAL_POLLS_MS);
      for (const lease of await leasesOf(host, workspace)) expect(leases).toContain(lease);
      expect(arrivals.filter((at) => at > returnedAt + START_WITHIN_MS + ARRIVES_WITHIN_MS)).toEqual([]);
      isWriting = false;
      await writing;

      workers[1]!.kill('SIGKILL');
      await host.get(WorkspacesService).resume(workspace.id, SYSTEM);
      for (const endpoint of endpoints) await waitForDeliveries(host, endpoint, 'SUCCEEDED', written, 60_000);
    } finally {
      workers.forEach((worker) => worker.kill('SIGKILL'));
      workers = [];
      await host.close();
      await receiver.stop();
    }
  }, 150_000);
});

/**
 * Returns the leases of a workspace's pending deliveries. Events are leased in a suspended workspace too,
 * until a worker has made their deliveries pending.
 */
async function leasesOf(host: MessagingHost, { id }: { id: string }): Promise<string[]> {
  const rows = await host.query<{ lease: string }>(
    'SELECT lease_id::text AS lease FROM pending_deliveries WHERE tenant_id = $1 AND lease_id IS NOT NULL',
    [id],
  );
  return rows.map(({ lease }) => lease);
}
