import { AlertsService } from '../../src/alerts/alerts.service';
import { SYSTEM } from '../../src/access/principal';
import { CreatedWebhookEndpoint } from '../../src/webhooks/endpoints/webhook-endpoint.dto';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';
import { WebhookWorkspace } from '../support/webhook-workspace';

const EVENTS = ['message.created', 'alert.opened', 'alert.resolved'];

describe('alerts of endpoints', () => {
  let service: TestService;
  let tenant: WebhookWorkspace;
  let receiver: Receiver;
  let endpoint: CreatedWebhookEndpoint;

  beforeAll(async () => {
    service = await TestService.create({ role: 'all' });
  });
  beforeEach(async () => {
    receiver = await Receiver.start();
    tenant = await WebhookWorkspace.create(service);
    endpoint = await tenant.addEndpoint(receiver.url());
  });
  afterEach(() => receiver.stop());

  const answer = (status: number) => {
    receiver.https.respond = (response) => response.writeHead(status).end();
  };
  const kinds = async (open: boolean) => {
    const alerts = service.app.get(AlertsService, { strict: false });
    return (await alerts.list(tenant.id, { open }, SYSTEM)).data.map(({ kind }) => kind);
  };
  const waitForOpen = (...expected: string[]) =>
    waitFor(`open alerts ${expected.join()}`, async () => (await kinds(true)).join() === expected.join());

  it('open at the first delivery that is given up, and are resolved by a success', async () => {
    await tenant.edit(endpoint, { events: EVENTS });
    answer(500);
    await tenant.exhaust(endpoint);
    await waitForOpen('ENDPOINT_FAILING');
    answer(200);
    await tenant.message();
    await waitForOpen();
    expect(await kinds(false)).toEqual(['ENDPOINT_FAILING']);
    // The endpoint gets what was told of itself.
    await waitFor('both events', async () => {
      const delivered = await tenant.list({ endpointId: endpoint.id, status: 'succeeded' });
      const types = delivered.map(({ event }) => event);
      return types.includes('alert.opened') && types.includes('alert.resolved');
    });
  });

  it('are not opened by an event about an alert', async () => {
    await tenant.edit(endpoint, { events: ['alert.opened'] });
    const other = await tenant.addEndpoint(`${receiver.url()}/other`);
    answer(500);
    await tenant.exhaust(other);
    await waitForOpen('ENDPOINT_FAILING');
    await tenant.waitForDelivery(
      endpoint,
      'has failed once',
      ({ status, attempts }) => status === 'pending' && attempts.length > 0,
    );
    await tenant.makeLastAttemptDue(endpoint);
    await tenant.waitForStatus(endpoint, 'exhausted', 1);
    // The other endpoint's next failure is written after this one.
    answer(200);
    await tenant.message();
    await waitForOpen();
    expect(await kinds(false)).toEqual(['ENDPOINT_FAILING']);
  });

  it('tell of one that was switched off, until it is switched on', async () => {
    answer(500);
    await tenant.exhaust(endpoint);
    await waitForOpen('ENDPOINT_FAILING');
    answer(410);
    await tenant.exhaust(endpoint);
    await waitForOpen('ENDPOINT_SWITCHED_OFF');
    expect(await kinds(false)).toEqual(['ENDPOINT_FAILING']);
    await tenant.activate(endpoint);
    expect(await kinds(true)).toEqual([]);
  });

  it('end with a new address, a deactivation by a person, and the endpoint', async () => {
    const end = {
      edit: () => tenant.edit(endpoint, { url: `${receiver.url()}/new` }),
      deactivate: () => tenant.deactivate(endpoint),
      delete: () => tenant.endpoints.delete(tenant.id, endpoint.id, SYSTEM),
    };
    for (const act of [end.edit, end.deactivate, end.delete]) {
      await tenant.activate(endpoint);
      answer(500);
      await tenant.exhaust(endpoint);
      await waitForOpen('ENDPOINT_FAILING');
      await act();
      expect(await kinds(true)).toEqual([]);
    }
  });
});
