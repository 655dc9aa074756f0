import { SYSTEM } from '../../src/access/principal';
import { HeldAnswers } from '../support/held-answers';
import { contradictions } from '../support/integrity';
import { MessagingHost } from '../support/messaging-host';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { ServiceProcess } from '../support/service-process';
import { waitFor } from '../support/wait';
import { deliveriesOf, endEventLeases, endLeases, waitForDeliveries } from '../support/stored-deliveries';
import { subscribe } from '../support/webhook-workspace';

const MESSAGES = 60;
/** Time after an answer in which an attempt may still begin that was claimed before. */
const CLAIMED_MS = 1_000;

it('an edited endpoint loses nothing to a killed worker, and gets nothing at its old address', async () => {
  const service = await TestService.create({ role: 'api' });
  const host = await MessagingHost.create({ beside: service });
  const receiver = await Receiver.start();
  const held = new HeldAnswers(receiver);
  const [first, second] = await Promise.all([
    ServiceProcess.start('worker', service.stores),
    ServiceProcess.start('worker', service.stores),
  ]);
  try {
    const subscription = await subscribe(host, receiver, { events: ['message.created'] });
    const { workspace, conversation, endpoint, path } = subscription;
    held.hold(path);
    const sent: string[] = [];
    for (let n = 0; n < MESSAGES; n++)
      sent.push((await service.make.received(workspace, conversation, `${n}`)).id);
    await held.waitForCount(path, 2);
    await waitFor('deliveries that wait', async () =>
      (await deliveriesOf(service, endpoint)).some(({ lease_id }) => lease_id === null),
    );

    const settings = { version: 1, url: receiver.url('/new') };
    await subscription.endpoints.update(workspace.id, endpoint.id, settings, SYSTEM);
    const answeredAt = Date.now();
    first.kill('SIGKILL');
    await first.exited;
    held.release(path, 500);
    await endLeases(service, endpoint);
    await endEventLeases(service, workspace);

    await waitForDeliveries(service, endpoint, 'SUCCEEDED', MESSAGES, 45_000);
    const got = receiver.received('/new').map(({ envelope }) => envelope.data.message.id as string);
    expect([...new Set(got)].sort()).toEqual(sent.sort());
    const begun = receiver.received(path).map(({ envelope }) => Date.parse(envelope.deliveredAt));
    expect(begun.filter((at) => at > answeredAt + CLAIMED_MS)).toEqual([]);
    expect(await contradictions((sql) => service.query(sql))).toEqual([]);
  } finally {
    second.kill('SIGKILL');
    await second.exited;
    await host.close();
    await service.close();
    await receiver.stop();
  }
}, 120_000);
