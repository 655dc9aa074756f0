import { SYSTEM } from '../../../src/access/principal';
import { WebhookEndpointsService } from '../../../src/webhooks/endpoints/webhook-endpoints.service';
import { WebhookTestService } from '../../../src/webhooks/testing/webhook-test.service';
import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { waitFor } from '../../support/wait';
import { accessibilityFaultsOf } from '../accessibility';
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

  it('ask before Escape or the cross closes a form in which something was entered', async () => {
    const { keyboard, mouse } = visit.page;
    const form = visit.page.getByRole('dialog', { name: 'Create a key' });
    const question = visit.page.getByRole('dialog', { name: 'Discard what you have entered?' });
    const name = form.getByLabel('Name', { exact: true });
    await visit.settings(workspace, 'api-keys');
    await visit.button('Create a key').first().click();
    await name.waitFor();
    await keyboard.press('Escape');
    await form.waitFor({ state: 'detached' });

    await visit.button('Create a key').first().click();
    await name.fill('Half a na');
    await mouse.click(5, 5);
    await keyboard.press('Escape');
    await question.waitFor();
    // The form and the page are behind the question, so that their contrast is not known.
    const faults = await accessibilityFaultsOf(visit.page, 'html');
    expect(faults.filter((fault) => !fault.includes('overlapped by another'))).toEqual([]);
    await keyboard.press('Escape');
    await question.waitFor({ state: 'detached' });
    expect(await name.inputValue()).toBe('Half a na');
    await waitFor('the focus in the form', () => name.evaluate((field) => field === document.activeElement));

    await form.getByRole('button', { name: 'Close' }).click();
    await question.getByRole('button', { name: 'Cancel' }).click();
    await name.fill('');
    await keyboard.press('Escape');
    await form.waitFor({ state: 'detached' });

    await visit.button('Create a key').first().click();
    await name.fill('Half a na');
    await keyboard.press('Escape');
    await question.getByRole('button', { name: 'Discard' }).click();
    await form.waitFor({ state: 'detached' });
    expect(await question.count()).toBe(0);
  });

  it('tell the exact time of a distance on focus, and to who listens', async () => {
    await visit.settings(workspace, 'agents');
    const time = visit.row(visit.agent.email).locator('time');
    const exact = /\d{1,2} \w+ \d{4}, \d\d:\d\d:\d\d/.exec((await time.textContent())!)![0];
    await time.focus();
    expect(await visit.page.getByRole('tooltip').innerText()).toBe(exact);
  });
});
