import { newId } from '../../src/common/ids';
import { contradictions } from '../support/integrity';
import { killWorkers } from '../support/killed-workers';
import { MessagingHost } from '../support/messaging-host';
import { Receiver } from '../support/receiver';
import { ServiceProcess } from '../support/service-process';
import { letTimePass } from '../support/wait';
import { endLeases, subscribe } from '../support/webhook-workspace';

const MISSED = 1_500;

/** Workers that are killed while they send what a recovery has made. */
describe('a recovery whose workers are killed', () => {
  let host: MessagingHost;
  let receiver: Receiver;

  beforeAll(async () => {
    host = await MessagingHost.create();
    receiver = await Receiver.start();
  });
  afterAll(async () => {
    await ServiceProcess.killAll();
    await receiver.stop();
    await host.close();
  });

  it('counts each of its deliveries once', async () => {
    const tenant = await subscribe(host, receiver, { events: ['message.created'] });
    await host.query(
      `INSERT INTO events (tenant_id, id, type, data, created_at)
       SELECT $1, id, 'message.created', $2, now() FROM unnest($3::uuid[]) AS id`,
      [tenant.id, '{"message":{"id":"1","body":"missed"}}', Array.from({ length: MISSED }, newId)],
    );
    await letTimePass(2); // the last of them is before the recovery's own moment
    const recovery = await tenant.recover(tenant.endpoint, tenant.endpoint.createdAt);
    expect(recovery).toMatchObject({ total: MISSED });

    const received = () => Promise.resolve(receiver.received(tenant.path).length);
    await killWorkers(host.stores, {
      count: received,
      kills: [100, 700],
      all: MISSED,
      withinMs: 60_000,
    });
    expect(await tenant.recovery(recovery)).toMatchObject({ status: 'running' });

    await endLeases(host, tenant.endpoint);
    await ServiceProcess.start('worker', host.stores);
    const counts = { recovered: MISSED, pending: 0, succeeded: MISSED, exhausted: 0, cancelled: 0 };
    expect(await tenant.waitForRecovery(recovery)).toMatchObject({ status: 'completed', ...counts });
    // What was under way when a worker was killed has been sent twice.
    expect(await received()).toBeGreaterThan(MISSED);
    expect(await contradictions((sql) => host.query(sql))).toEqual([]);
  }, 180_000);
});
