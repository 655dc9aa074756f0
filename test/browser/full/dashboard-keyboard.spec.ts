import { SYSTEM } from '../../../src/common/principal';
import { WebhookEndpointsService } from '../../../src/webhooks/endpoints/webhook-endpoints.service';
import { WebhookTestService } from '../../../src/webhooks/browsing/webhook-test.service';
import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { DashboardInBrowser } from '../dashboard-in-browser';
import { START_TIMEOUT_MS } from '../live-chat';

/** Tests of who has nothing but a keyboard, or reads with the ears. */
describe('the pages by keyboard', () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let visit: Awaited<ReturnType<DashboardInBrowser['enter']>>;
  let endpointId: string;

  beforeAll(async () => {
    world = await DashboardInBrowser.start();
    workspace = await world.service.make.workspace();
    const { app } = world.service;
    const input = { url: world.receiver.url('/keys'), events: ['*'] };
    ({ id: endpointId } = await app.get(WebhookEndpointsService).create(workspace.id, input, SYSTEM));
    await app.get(WebhookTestService).test(workspace.id, endpointId, SYSTEM);
  }, START_TIMEOUT_MS);
  afterAll(() => world?.stop());
  beforeEach(async () => {
    visit = await world.enter(workspace);
  });
  afterEach(async () => {
    expect(visit.errors).toEqual([]);
    await visit.close();
  });

  const focused = () => visit.page.locator(':focus');

  it('keep the focus when a filter is removed, and when all are', async () => {
    await visit.settings(
      workspace,
      `webhooks/${endpointId}?status=succeeded&event=webhook.test&statusCode=200`,
    );
    await visit.button('Remove the filter HTTP status: 200').press('Enter');
    await visit.page.waitForURL((url) => !url.searchParams.has('statusCode'));
    expect(await focused().innerText()).toBe('Filters');
    await visit.button('Clear the filters').press('Enter');
    await visit.page.waitForURL((url) => url.search === '');
    expect(await focused().innerText()).toBe('Filters');
  });

  it('keep the focus in the page when the checklist is hidden', async () => {
    await visit.settings(workspace, 'overview');
    await visit.button('Hide').press('Enter');
    await visit.text('Get started').waitFor({ state: 'detached' });
    expect(await focused().getAttribute('id')).toBe('content');
  });

  it('tell the exact time of a distance on focus, and to who listens', async () => {
    await visit.settings(workspace, 'agents');
    const time = visit.row(visit.agent.email).locator('time');
    const exact = /\d{1,2} \w+ \d{4}, \d\d:\d\d:\d\d/.exec((await time.textContent())!)![0];
    await time.focus();
    expect(await visit.page.getByRole('tooltip').innerText()).toBe(exact);
  });
});
