import { Metrics } from '../../src/metrics/metrics';
import { HeldAnswers } from '../support/held-answers';
import { contradictions } from '../support/integrity';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';
import { attemptsOf, deliveriesOf, endEventLeases, waitForDeliveries } from '../support/stored-deliveries';
import { subscribe, Subscription } from '../support/webhook-workspace';

const SLOW = 30_000;

describe('delivery engine', () => {
  let service: TestService;
  let receiver: Receiver;
  let held: HeldAnswers;

  beforeAll(async () => {
    service = await TestService.create({ role: 'all', env: { WEBHOOK_ENDPOINT_CONCURRENCY: '3' } });
    receiver = await Receiver.start();
  });
  beforeEach(() => {
    held = new HeldAnswers(receiver);
  });

  async function send({ workspace, conversation }: Subscription, count: number): Promise<void> {
    for (let n = 0; n < count; n++) await service.make.received(workspace, conversation, `Message ${n}`);
  }

  async function inFlight(): Promise<number> {
    const { values } = await service.app.get(Metrics).webhookDeliveriesInFlight.get();
    return values[0]!.value;
  }

  it('takes over first attempts whose worker is gone, and drops what that one says later', async () => {
    const subscription = await subscribe(service, receiver);
    const { workspace, endpoint, path } = subscription;
    held.hold(path);
    await send(subscription, 1);
    await held.waitForCount(path, 1);
    await endEventLeases(service, workspace);

    await held.waitForCount(path, 2);
    const [first, second] = held.list(path);
    first!.writeHead(500).end();
    await waitFor('the late outcome to be dropped', async () => (await inFlight()) === 1);
    second!.end('ok');
    await waitForDeliveries(service, endpoint, 'SUCCEEDED');

    expect(await deliveriesOf(service, endpoint)).toMatchObject([{ round: 1, attempt_count: 1 }]);
    expect(await attemptsOf(service, endpoint)).toMatchObject([{ attempt: 1, status_code: 200 }]);
    const ids = receiver.received(path).map(({ headers }) => headers['x-service-delivery']);
    expect(new Set(ids).size).toBe(1);
    expect(await service.query('SELECT FROM event_queue WHERE tenant_id = $1', [workspace.id])).toEqual([]);
  });

  it('goes on when its connections to PostgreSQL are cut', async () => {
    const subscription = await subscribe(service, receiver);
    const { endpoint, path } = subscription;
    held.hold(path);
    await send(subscription, 2);
    await held.waitForCount(path, 2);
    await service.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    held.release(path);
    // The pool may notice that a connection is cut only when it uses the connection.
    await waitFor('a message to be stored', () =>
      service.make
        .received(subscription.workspace, subscription.conversation, 'After the cut')
        .catch(() => null),
    );

    await waitForDeliveries(service, endpoint, 'SUCCEEDED', 3, SLOW);
    expect((await attemptsOf(service, endpoint)).length).toBeGreaterThanOrEqual(3);
  }, 60_000);

  it('has left no rows that contradict each other', async () => {
    expect(await contradictions((sql) => service.query(sql))).toEqual([]);
  });
});
