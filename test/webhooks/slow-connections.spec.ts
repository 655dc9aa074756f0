import { SYSTEM } from '../../src/access/principal';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { isGenuine } from '../../examples/verify-webhook';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { TcpProxy } from '../support/tcp-proxy';
import { letTimePass, waitFor } from '../support/wait';
import { deliveriesOf, waitForDeliveries } from '../support/stored-deliveries';
import { WebhookWorkspace } from '../support/webhook-workspace';

/** Time for which a connection is not ready, longer than the second in which a claimed delivery may start. */
const CONNECTING_MS = 1_200;

/**
 * A receiver behind a network that answers late. Its connection is not ready until `thaw`, so a test can
 * change the endpoint in the meantime.
 */
let receiver: Receiver;
let network: TcpProxy;
let service: TestService;
let tenant: WebhookWorkspace;

beforeAll(async () => {
  service = await TestService.create({ role: 'all' });
});
beforeEach(async () => {
  receiver = await Receiver.start();
  network = await TcpProxy.start(receiver.url());
  tenant = await WebhookWorkspace.create(service);
  network.freeze();
});
afterEach(async () => {
  await network.cut();
  await receiver.stop();
});

const addEndpoint = () => tenant.addEndpoint(network.reroute(receiver.url()));
const endpoints = () => service.app.get(WebhookEndpointsService, { strict: false });

async function waitForSlowConnection(count = 1): Promise<void> {
  await waitFor('a connection', () => network.connections >= count);
  await letTimePass(CONNECTING_MS);
}

it('still gets each event in one attempt', async () => {
  const endpoint = await addEndpoint();
  await tenant.message();
  await waitForSlowConnection();
  network.thaw();

  const [delivery] = await waitForDeliveries(service, endpoint, 'SUCCEEDED');
  expect(delivery!.attempt_count).toBe(1);
  expect(receiver.received()).toHaveLength(1);
  expect(network.connections).toBe(1);
});

describe('once the answer was given', () => {
  const changes: [string, (endpoint: { id: string }) => Promise<unknown>][] = [
    ['deactivated', (endpoint) => tenant.deactivate(endpoint)],
    ['deleted', ({ id }) => endpoints().delete(tenant.id, id, SYSTEM)],
    ['suspended', () => service.app.get(WorkspacesService, { strict: false }).suspend(tenant.id, SYSTEM)],
    [
      'deactivated and activated again',
      async (endpoint) => {
        await tenant.deactivate(endpoint);
        await tenant.activate(endpoint);
      },
    ],
  ];
  it.each(changes)(
    'that it is %s, an endpoint gets nothing over a connection that was being made',
    async (_, change) => {
      const endpoint = await addEndpoint();
      await tenant.message();
      await waitForSlowConnection();
      await change(endpoint);
      network.thaw();

      await waitFor('the end of the attempt', async () => {
        const [delivery] = await deliveriesOf(service, endpoint);
        return delivery?.lease_id === null;
      });
      expect((await deliveriesOf(service, endpoint))[0]!.attempt_count).toBe(0);
      expect(receiver.https.requests).toEqual([]);
    },
  );

  it('that it has another address, the old one gets nothing over a connection that was being made', async () => {
    const endpoint = await addEndpoint();
    await tenant.message();
    await waitForSlowConnection();
    await tenant.edit(endpoint, { url: receiver.url('/moved') });
    network.thaw();

    const [delivery] = await waitForDeliveries(service, endpoint, 'SUCCEEDED');
    expect(delivery!.attempt_count).toBe(1);
    expect(receiver.https.requests.map(({ path }) => path)).toEqual(['/moved']);
  });

  it('that it takes the event no more, it gets nothing over a connection that was being made', async () => {
    const endpoint = await addEndpoint();
    await tenant.message();
    await waitForSlowConnection();
    await tenant.edit(endpoint, { events: ['conversation.updated'] });
    network.thaw();

    await waitForDeliveries(service, endpoint, 'CANCELLED');
    expect(receiver.https.requests).toEqual([]);
  });

  it('that its secret was replaced, the old one signs nothing over a connection that was being made', async () => {
    const endpoint = await addEndpoint();
    await tenant.message();
    await waitForSlowConnection();
    const rolled = await endpoints().rollSecret(tenant.id, endpoint.id, { gracePeriodSeconds: 0 }, SYSTEM);
    network.thaw();

    const webhook = await receiver.waitFor(() => true);
    expect(isGenuine(webhook.body, String(webhook.headers['x-service-signature']), rolled.secret)).toBe(true);
    await waitForDeliveries(service, endpoint, 'SUCCEEDED');
    expect(receiver.https.requests).toHaveLength(1);
  });
});

describe('the Test button', () => {
  it('sends to an endpoint that connects slowly, even an inactive one', async () => {
    const endpoint = await addEndpoint();
    await tenant.deactivate(endpoint);
    const tested = tenant.test(endpoint);
    await waitForSlowConnection();
    network.thaw();
    expect(await tested).toMatchObject({ status: 200 });
  });

  it('sends nothing once its endpoint is deleted, says so, and leaves no row', async () => {
    const endpoint = await addEndpoint();
    const tested = tenant.test(endpoint).catch((error: Error) => error);
    await waitForSlowConnection();
    await endpoints().delete(tenant.id, endpoint.id, SYSTEM);
    network.thaw();
    expect(await tested).toMatchObject({ code: 'UNAVAILABLE' });
    expect(receiver.https.requests).toEqual([]);
    expect(await deliveriesOf(service, endpoint)).toEqual([]);
  });
});
