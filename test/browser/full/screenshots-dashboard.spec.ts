import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { ChannelConnectionsService } from '../../../src/channels/connections/channel-connections.service';
import { SYSTEM } from '../../../src/common/principal';
import { WebhookTestService } from '../../../src/webhooks/browsing/webhook-test.service';
import { WebhookEndpointsService } from '../../../src/webhooks/endpoints/webhook-endpoints.service';
import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { print } from '../../support/report';
import { DashboardInBrowser, DashboardPage } from '../dashboard-in-browser';
import { START_TIMEOUT_MS } from '../live-chat';

/** Tests that take the docs' pictures with `SCREENSHOTS=write npm run test:browser -- screenshots`. */

const FOLDER = resolve(__dirname, '../../../docs/images');
const MAX_BYTES = 150_000;
const SIZE = { width: 1120, height: 760 };

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
    const ada = await make.agent(workspace, { name: 'Ada', email: 'ada@tea.example' });
    login = await world.dashboard.logIn(ada);
    await make.apiKey(workspace);
    const input = { url: world.receiver.url('/webhooks'), events: ['message.created'] };
    ({ id: endpointId } = await app.get(WebhookEndpointsService).create(workspace.id, input, SYSTEM));
    const conversation = await make.conversation(workspace);
    for (const body of ['Is the green tea from this spring?', 'It was picked in April.', 'Lovely!'])
      await make.sent(workspace, conversation, body);
    await world.receiver.waitForCount(3, '/webhooks');
    await app.get(WebhookTestService).test(workspace.id, endpointId, SYSTEM);
    const widget = { channel: 'WIDGET' as const, credentials: { allowedOrigins: ['https://tea.example'] } };
    await app.get(ChannelConnectionsService).connect(workspace.id, widget, SYSTEM);
    await fillDay();
  }, START_TIMEOUT_MS);
  afterAll(() => world?.stop());
  afterEach(() => visit.close());

  /**
   * Fills a day with attempts: more by day than by night, and a failure in the morning. The 9th outcome is an
   * error status.
   */
  const fillDay = () =>
    world.service.query(
      `INSERT INTO attempt_rollups (tenant_id, endpoint_id, starts_at, outcomes, durations)
       SELECT $1, $2, date_bin('5 minutes', now(), 'epoch') - n * interval '5 minutes',
         ARRAY[20 + (16 * sin(n / 46.0))::int, 0, 0, 0, 0, 0, 0, 0, CASE WHEN n BETWEEN 120 AND 132 THEN 14 ELSE 0 END, 0],
         array_fill(0, ARRAY[22 + (3 * sin(n / 17.0))::int]) || ARRAY[30]
       FROM generate_series(1, 287) n`,
      [workspace.id, endpointId],
    );
  const open = async (colorScheme: 'light' | 'dark' = 'light') => {
    visit = await world.open({ colorScheme, viewport: SIZE });
    await visit.adopt(login);
  };
  const take = async (name: string) => {
    await visit.comeToRest();
    await visit.page.waitForLoadState('networkidle');
    const path = resolve(FOLDER, `dashboard-${name}.png`);
    await visit.page.screenshot({ path, animations: 'disabled', caret: 'hide' });
    const { size } = statSync(path);
    print(`${path}: ${size} bytes`);
    expect(size).toBeLessThan(MAX_BYTES);
  };

  it.each([
    ['api-keys', 'light', 'api-keys'],
    ['webhooks', 'light', 'webhooks'],
    ['deliveries', 'light', 'webhooks/ENDPOINT'],
    ['deliveries-dark', 'dark', 'webhooks/ENDPOINT'],
    ['channels', 'light', 'channels'],
    ['audit', 'light', 'audit'],
    ['workspace', 'light', 'workspace'],
  ] as const)('%s', async (name, colorScheme, path) => {
    await open(colorScheme);
    await visit.settings(workspace, path.replace('ENDPOINT', endpointId));
    await take(name);
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
