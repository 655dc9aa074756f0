import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { ChannelConnectionsService } from '../../../src/channels/connections/channel-connections.service';
import { SYSTEM } from '../../../src/access/principal';
import { WebhookTestService } from '../../../src/webhooks/testing/webhook-test.service';
import { WebhookEndpointsService } from '../../../src/webhooks/endpoints/webhook-endpoints.service';
import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { Channel } from '../../../src/common/channel-descriptors';
import { print } from '../../support/report';
import { waitFor } from '../../support/wait';
import { DashboardInBrowser, DashboardPage } from '../dashboard-in-browser';
import { START_TIMEOUT_MS } from '../live-chat';

/** Tests that take the docs' pictures with `SCREENSHOTS=write npm run test:browser -- screenshots`. */

const FOLDER = resolve(__dirname, '../../../docs/images');
const MAX_BYTES = 150_000;
const SIZE = { width: 1200, height: 780 };

describe("the pictures of the dashboard's pages", () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let visit: DashboardPage;
  let endpointId: string;
  let login: { cookies: Map<string, string> };

  beforeAll(async () => {
    world = await DashboardInBrowser.start();
    const { make, app } = world.service;
    workspace = await make.workspace({ name: 'Tea shop', planTier: 'ENTERPRISE' });
    const ada = await make.agent(workspace, { name: 'Ada Lovelace', email: 'ada@tea.example' });
    login = await world.dashboard.logIn(ada);
    await make.agent(workspace, { name: 'Bea Moore', email: 'bea@tea.example', role: 'AGENT' });
    await make.agent(workspace, { name: 'Order bot', email: 'bot@tea.example', role: 'AGENT', isBot: true });
    await make.apiKey(workspace);
    const endpoints = app.get(WebhookEndpointsService);
    const input = { url: world.receiver.url('/webhooks'), events: ['message.created'], name: 'Order system' };
    ({ id: endpointId } = await endpoints.create(workspace.id, input, SYSTEM));
    const crm = { url: world.receiver.url('/crm'), events: ['*'], name: 'CRM' };
    const { id: crmId } = await endpoints.create(workspace.id, crm, SYSTEM);
    const widget = { channel: 'WIDGET' as const, credentials: { allowedOrigins: ['https://tea.example'] } };
    await app.get(ChannelConnectionsService).connect(workspace.id, widget, SYSTEM);
    await connectOthers();
    const conversation = await make.conversation(workspace);
    for (const body of ['Is the green tea from this spring?', 'It was picked in April.', 'Lovely!'])
      await make.sent(workspace, conversation, body);
    for (let n = 0; n < 17; n += 1) await make.conversation(workspace);
    await world.receiver.waitForCount(3, '/webhooks');
    await world.receiver.waitForCount(3, '/crm');
    await app.get(WebhookTestService).test(workspace.id, endpointId, SYSTEM);
    await fillDay(endpointId);
    await fillDay(crmId);
  }, START_TIMEOUT_MS);
  afterEach(() => visit.close());

  /**
   * Fills a day with attempts: more by day than by night, and a failure in the morning, after which all
   * arrived. The 9th outcome is an error status.
   */
  const fillDay = (endpoint: string) =>
    world.service.query(
      `INSERT INTO attempt_rollups (tenant_id, endpoint_id, starts_at, outcomes, durations, late)
       SELECT $1, $2, date_bin('5 minutes', now(), 'epoch') - n * interval '5 minutes',
         ARRAY[20 + (16 * sin(n / 46.0))::int, 0, 0, 0, 0, 0, 0, 0, CASE WHEN n BETWEEN 120 AND 132 THEN 14 ELSE 0 END, 0],
         array_fill(0, ARRAY[22 + (3 * sin(n / 17.0))::int]) || ARRAY[30],
         CASE WHEN n BETWEEN 118 AND 131 THEN 7 ELSE 0 END
       FROM generate_series(1, 287) n`,
      [workspace.id, endpoint],
    );
  /** Stores connections of other channels, without their providers. */
  const connectOthers = () =>
    world.service.query(
      `INSERT INTO channel_connections (tenant_id, id, channel, external_id, hook_key, settings, credentials_key_id,
         credentials_ciphertext, status, created_at, updated_at)
       SELECT tenant_id, gen_random_uuid(), other.channel, other.account, lower(other.channel), '{}', credentials_key_id,
         credentials_ciphertext, other.status, now() - interval '40 days', now()
       FROM channel_connections, (VALUES ('WHATSAPP', '106540352242922', 'ACTIVE'),
         ('INSTAGRAM', '17841405822304914', 'REAUTH_REQUIRED')) AS other (channel, account, status)
       WHERE tenant_id = $1`,
      [workspace.id],
    );
  const open = async (colorScheme: 'light' | 'dark' = 'light') => {
    visit = await world.open({ colorScheme, viewport: SIZE });
    await visit.adopt(login);
  };
  const take = async (name: string, state: 'networkidle' | 'load' = 'networkidle') => {
    await visit.comeToRest();
    await visit.page.waitForLoadState(state);
    const path = resolve(FOLDER, `dashboard-${name}.png`);
    await visit.page.screenshot({ path, animations: 'disabled', caret: 'hide' });
    const { size } = statSync(path);
    print(`${path}: ${size} bytes`);
    expect(size).toBeLessThan(MAX_BYTES);
  };

  it.each([
    ['overview', 'light', 'overview'],
    ['overview-dark', 'dark', 'overview'],
    ['api-keys', 'light', 'api-keys'],
    ['webhooks', 'light', 'webhooks'],
    ['deliveries', 'light', 'webhooks/ENDPOINT'],
    ['deliveries-dark', 'dark', 'webhooks/ENDPOINT'],
    ['channels', 'light', 'channels'],
    ['audit', 'light', 'audit'],
    ['workspace', 'light', 'workspace'],
    ['agents', 'light', 'agents'],
  ] as const)('%s', async (name, colorScheme, path) => {
    await open(colorScheme);
    await visit.settings(workspace, path.replace('ENDPOINT', endpointId));
    await take(name);
  });

  it('inbox', async () => {
    const { make } = world.service;
    const [ada] = await world.service.query<{ id: string }>(
      "SELECT id FROM agents WHERE tenant_id = $1 AND role = 'OWNER'",
      [workspace.id],
    );
    const begin = async (name: string, channel: Channel, text: string) => {
      const { id: contactId } = await make.contact(workspace, { name });
      const made = await make.conversation(workspace, { contactId, channel });
      await make.received(workspace, made, text);
      await make.updateConversation(workspace, made, { assignedAgentId: ada!.id });
      return made;
    };
    await begin('Mehmet Öz', 'WIDGET', 'Do you ship to Norway?');
    await begin('Zoë Martín', 'INSTAGRAM', 'Which tea is in the picture of today?');
    await begin('Ngozi Okafor', 'WHATSAPP', 'Can I change the address of my order?');
    const shown = await begin('Grace Hopper', 'WHATSAPP', 'Is the green tea from this spring?');
    await make.sent(workspace, shown, 'It was picked in April.\nWe have 40 bags left.');
    await waitFor('the outcome', async () => {
      const read = await world.service.query(
        "UPDATE messages SET delivery_status = 'READ', delivery_error = NULL WHERE tenant_id = $1 AND conversation_id = $2 AND delivery_status = 'FAILED' RETURNING id",
        [workspace.id, shown.id],
      );
      return read.length === 1;
    });
    // Only now, so that nothing was sent to the channel's provider.
    await world.service.query(
      `INSERT INTO contact_identities (tenant_id, channel, external_id, contact_id, created_at)
       SELECT tenant_id, source_channel, '491701234567', contact_id, now() FROM conversations
       WHERE tenant_id = $1 AND id = $2`,
      [workspace.id, shown.id],
    );
    await make.received(workspace, shown, 'Lovely! Two bags, please.');
    await open();
    await visit.page.goto(`/w/${workspace.slug}/inbox/${shown.id}`);
    await visit.text('Two bags, please.').first().waitFor();
    await visit.field('Reply').fill('They leave us today.');
    await take('inbox', 'load');
  });

  it('test', async () => {
    await open();
    await visit.settings(workspace, `webhooks/${endpointId}`);
    await visit.button('Test').click();
    await visit.text(/^The receiver answered 200/).waitFor();
    await take('test');
  });

  it('account', async () => {
    await open();
    await visit.page.goto('/account');
    await take('account');
  });
});
