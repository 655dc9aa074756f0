import { CreatedApiKey } from '../../../src/auth/api-key.dto';
import { Scope } from '../../../src/access/permissions';
import { WebhookEndpointsService } from '../../../src/webhooks/endpoints/webhook-endpoints.service';
import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { accessibilityFaultsOf } from '../accessibility';
import { DashboardInBrowser, DashboardPage } from '../dashboard-in-browser';
import { START_TIMEOUT_MS } from '../live-chat';

const SCOPES: Scope[] = ['webhooks:write', 'conversations:read'];

describe('the dialog that revokes an API key', () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let visit: DashboardPage;

  beforeAll(async () => {
    world = await DashboardInBrowser.start();
  }, START_TIMEOUT_MS);
  beforeEach(async () => {
    workspace = await world.service.make.workspace();
    visit = await world.enter(workspace);
  });
  afterEach(() => visit.close());

  const endpoints = () => world.service.app.get(WebhookEndpointsService);
  const makeEndpoint = ({ id }: CreatedApiKey, name: string) =>
    endpoints().create(
      workspace.id,
      { url: world.receiver.url(`/${name}`), events: ['message.created'], name },
      { type: 'api_key', id, scopes: SCOPES },
    );
  const makeKey = () => world.service.make.apiKey(workspace, SCOPES);
  const open = async (key: CreatedApiKey) => {
    await visit.settings(workspace, 'api-keys');
    await visit.row(key.preview).getByRole('button', { name: 'Revoke Test key' }).click();
    await visit.field('Type “Test key” to confirm').fill('Test key');
  };

  it('deactivates the endpoints of a leaked key, and names them', async () => {
    const key = await makeKey();
    const { id } = await makeEndpoint(key, 'Thief');
    await visit.settings(workspace, 'webhooks');
    await visit.row('Thief').getByText('API key “Test key”').waitFor();
    await open(key);
    await visit.dialog.getByText(world.receiver.url('/Thief')).waitFor();
    expect(await visit.act('Revoke').isDisabled()).toBe(true);
    await visit.field('It leaked, or nobody needs it any more').check();
    expect(await accessibilityFaultsOf(visit.page, '[role=dialog]')).toEqual([]);
    await visit.act('Revoke').click();
    await visit.dialog.getByText('deactivated').waitFor();
    await visit.act('Close').last().click();
    expect((await endpoints().get(workspace.id, id, { type: 'system', id: null })).active).toBe(false);
  });

  it('names the endpoints whose secret a leaked key knows', async () => {
    const [key, other] = [await makeKey(), await makeKey()];
    const { id } = await makeEndpoint(other, 'CRM');
    await endpoints().rollSecret(
      workspace.id,
      id,
      { gracePeriodSeconds: 0 },
      { type: 'api_key', id: key.id, scopes: SCOPES },
    );
    await open(key);
    await visit.field('It leaked, or nobody needs it any more').check();
    await visit.act('Revoke').click();
    await visit.dialog.getByText('goes on').waitFor();
    await visit.dialog.getByText('The key knew its secret: roll it.').waitFor();
    expect(await accessibilityFaultsOf(visit.page, '[role=dialog]')).toEqual([]);
    await visit.dialog.getByRole('link', { name: /CRM/ }).click();
    await visit.page.getByRole('heading', { name: 'CRM' }).waitFor();
  });

  it('gives the endpoints to the key that replaces it, by keyboard alone', async () => {
    const [key, next] = [await makeKey(), await makeKey()];
    const { id } = await makeEndpoint(key, 'CRM');
    await open(key);
    await visit.field('It leaked, or nobody needs it any more').focus();
    await visit.page.keyboard.press('ArrowDown');
    await visit.field('New key').selectOption(next.id);
    await visit.field('Type “Test key” to confirm').focus();
    await visit.page.keyboard.press('Enter');
    await visit.dialog.getByText('goes on with the new key').waitFor();
    expect(await endpoints().get(workspace.id, id, { type: 'system', id: null })).toMatchObject({
      active: true,
      madeBy: { type: 'api_key', id: next.id },
    });
  });
});
