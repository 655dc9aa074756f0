import { AdvisoryLock } from '../support/advisory-lock';
import { listLockWaits } from '../support/lock-waits';
import { MessagingHost } from '../support/messaging-host';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { moment, waitFor } from '../support/wait';
import { insertPendingDeliveries } from '../support/stored-deliveries';
import { subscribe, Subscription, WebhookWorkspace } from '../support/webhook-workspace';
import { stopAll } from '../support/stop-at-end';

/**
 * Number of recoveries that would take longer than a test waits if each cost the pause between two runs of
 * half a second.
 */
const CROWD = 48;

let service: TestService;
let host: MessagingHost;
let receiver: Receiver;

beforeEach(async () => {
  receiver = await Receiver.start();
  service = await TestService.create({ role: 'api' });
  host = await MessagingHost.create({ beside: service });
});
afterEach(stopAll);

async function startWorker(): Promise<void> {
  await TestService.create({ role: 'worker', beside: service });
}

/** Has a trigger refuse some changes of a table, a fault that only an operator can mend. */
async function refuse(table: string, timing: string, condition: string): Promise<void> {
  await host.query(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       IF ${condition} THEN RAISE data_exception USING MESSAGE = 'refused by a trigger'; END IF;
       RETURN coalesce(NEW, OLD);
     END $$`,
  );
  await host.query(`CREATE TRIGGER refuses ${timing.replace('@', table)} EXECUTE FUNCTION refuse()`);
}

describe('recoveries', () => {
  /** Lets an event pass that no endpoint has got, and returns the moment before it. */
  async function miss(tenant: WebhookWorkspace): Promise<Date> {
    const since = await moment();
    await tenant.message('missed');
    return since;
  }

  /** Adds an endpoint as if it had been there at a time, and inactive, and recovers it. */
  async function recover(tenant: WebhookWorkspace, path: string, since: Date) {
    const endpoint = await tenant.addEndpoint(receiver.url(path));
    await host.query('UPDATE webhook_endpoints SET created_at = $2 WHERE id = $1', [endpoint.id, since]);
    return tenant.recover(endpoint, since);
  }

  const forgetQueue = ({ id }: WebhookWorkspace) =>
    host.query('DELETE FROM event_queue WHERE tenant_id = $1', [id]);

  it.each<[string, (tenant: WebhookWorkspace) => Promise<unknown>]>([
    [
      'wait for the relay',
      ({ id }) =>
        host.query(
          `UPDATE event_queue SET lease_id = $1, lease_until = now() + interval '1 hour' WHERE tenant_id = $1`,
          [id],
        ),
    ],
    [
      'fail',
      async (tenant) => {
        await forgetQueue(tenant);
        await refuse(
          'pending_deliveries',
          'BEFORE INSERT ON @ FOR EACH ROW',
          `NEW.tenant_id = '${tenant.id}'`,
        );
      },
    ],
  ])('that %s hold up those of no other workspace', async (_, holdUp) => {
    const crowd = await WebhookWorkspace.create(host);
    const since = await miss(crowd);
    const held = [];
    for (let n = 0; n < CROWD; n++) held.push(await recover(crowd, `/crowd-${n}`, since));
    await holdUp(crowd);
    const other = await WebhookWorkspace.create(host);
    const otherSince = await miss(other);
    await forgetQueue(other);
    const recovery = await recover(other, '/other', otherSince);

    await startWorker();

    expect(await other.waitForRecovery(recovery)).toMatchObject({ status: 'completed', recovered: 1 });
    await receiver.waitForCount(1, '/other');
    for (const one of held)
      expect(await crowd.recovery(one)).toMatchObject({ status: 'running', recovered: 0 });
  });
});

describe('cancellations', () => {
  async function countPending({ id }: { id: string }): Promise<number> {
    const rows = await host.query('SELECT FROM pending_deliveries WHERE endpoint_id = $1', [id]);
    return rows.length;
  }

  it('that fail hold up no other', async () => {
    const [first, second] = [await subscribe(host, receiver), await subscribe(host, receiver)];
    for (const one of [first, second]) {
      await insertPendingDeliveries(host, one);
      await one.deactivate(one.endpoint);
    }
    await refuse(
      'pending_deliveries',
      'BEFORE DELETE ON @ FOR EACH ROW',
      `OLD.endpoint_id = '${first.endpoint.id}'`,
    );

    await startWorker();

    await waitFor('the second cancellation', async () => (await countPending(second.endpoint)) === 0);
    expect(await countPending(first.endpoint)).toBe(1);
  });

  it('that fail go on in smaller steps', async () => {
    const subscription = await subscribe(host, receiver);
    await insertPendingDeliveries(host, subscription, 150);
    await subscription.deactivate(subscription.endpoint);
    await refuse(
      'pending_deliveries',
      'AFTER DELETE ON @ REFERENCING OLD TABLE AS gone FOR EACH STATEMENT',
      '(SELECT count(*) FROM gone) > 60',
    );

    await startWorker();

    await waitFor('the cancellation', async () => (await countPending(subscription.endpoint)) === 0);
  });
});

describe('claims', () => {
  /** Lock that the claims of one endpoint wait for, until their statement times out. */
  let lock: AdvisoryLock;

  beforeEach(async () => {
    lock = await AdvisoryLock.take(service.stores, 1);
  });
  afterEach(() => lock.release());

  async function holdUpClaims({ endpoint }: Subscription): Promise<void> {
    await host.query(
      `CREATE FUNCTION hold_up() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN
         PERFORM set_config('lock_timeout', '0', true);
         PERFORM pg_advisory_xact_lock_shared(1);
         RETURN NEW;
       END $$`,
    );
    await host.query(
      `CREATE TRIGGER holds_up BEFORE UPDATE ON pending_deliveries FOR EACH ROW
       WHEN (NEW.endpoint_id = '${endpoint.id}' AND NEW.lease_id IS NOT NULL) EXECUTE FUNCTION hold_up()`,
    );
  }

  /** Waits until a claim is held up, and returns the moment at which its statement began. */
  function waitForHeldUp(): Promise<Date> {
    return waitFor('a claim that is held up', async () => (await listLockWaits(host))[0]);
  }

  it('of one endpoint fail with others once at most', async () => {
    const held = await subscribe(host, receiver);
    const others = await Promise.all([1, 2, 3, 4, 5].map(() => subscribe(host, receiver)));
    await holdUpClaims(held);
    for (const one of [held, ...others]) await insertPendingDeliveries(host, one);

    await startWorker();

    for (const { path } of others) await receiver.waitForCount(1, path);
    expect(receiver.received(held.path)).toEqual([]);
    await lock.release();
    await receiver.waitForCount(1, held.path);
  }, 60_000);

  it('go on while that of an endpoint is held up', async () => {
    const [held, other] = [await subscribe(host, receiver), await subscribe(host, receiver)];
    await holdUpClaims(held);
    await insertPendingDeliveries(host, held);
    await startWorker();
    const since = await waitForHeldUp();

    await insertPendingDeliveries(host, other);
    await host.wake(other.endpoint);

    await receiver.waitForCount(1, other.path);
    expect(await waitForHeldUp()).toEqual(since);
  });
});
