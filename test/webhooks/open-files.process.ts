import { itOnLinux } from '../support/left-out';
import { MessagingHost } from '../support/messaging-host';
import { Receiver } from '../support/receiver';
import { ServiceProcess } from '../support/service-process';
import { waitFor } from '../support/wait';
import { Subscription, subscribe } from '../support/webhook-workspace';

/** Workspaces whose endpoint hangs, more than a worker may have files. */
const HANGING = 300;
const MAX_OPEN_FILES = 256;

let host: MessagingHost;
let receiver: Receiver;

beforeAll(async () => {
  host = await MessagingHost.create();
  receiver = await Receiver.start();
});

/** Makes workspaces with an event each that no worker has relayed yet. */
async function makeSubscriptions(count: number): Promise<Subscription[]> {
  const made: Subscription[] = [];
  while (made.length < count) {
    const some = await Promise.all(Array.from({ length: 10 }, () => subscribe(host, receiver)));
    await Promise.all(some.map((one) => one.message()));
    made.push(...some);
  }
  return made;
}

itOnLinux(
  '/proc',
  'a worker that may open few files delivers, however many endpoints hang when it starts',
  async () => {
    const hanging = await makeSubscriptions(HANGING);
    const [answering] = await makeSubscriptions(1);
    // Only this endpoint's answers of before are known to a worker that starts.
    await host.query('UPDATE webhook_endpoints SET last_success_at = now() WHERE id = $1', [
      answering!.endpoint.id,
    ]);
    receiver.https.respond = (response, { path }) => {
      if (path === answering!.path) response.end();
    };
    await ServiceProcess.start('worker', host.stores, {}, { maxOpenFiles: MAX_OPEN_FILES });
    await receiver.waitForCount(1, answering!.path);

    const outcomes = () =>
      host.query<{ error: string; attempts: number }>(
        `SELECT last_error AS error, count(*)::int AS attempts FROM pending_deliveries
       WHERE tenant_id = ANY ($1) AND last_error IS NOT NULL GROUP BY last_error`,
        [hanging.map(({ id }) => id)],
      );
    // A slot that a hanging endpoint leaves goes to one that has had no attempt.
    const slow = 2 * receiver.https.requests.length;
    await waitFor(
      'attempts of more endpoints than have a slot at once',
      async () => (await outcomes()).reduce((sum, { attempts }) => sum + attempts, 0) > slow,
      60_000, // each attempt takes ten seconds
    );
    expect((await outcomes()).map(({ error }) => error)).toEqual(['timeout']);
  },
  180_000,
);
