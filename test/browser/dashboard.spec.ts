import axios from 'axios';
import type { Route } from 'playwright-core';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { DashboardInBrowser, DashboardPage } from './dashboard-in-browser';
import { START_TIMEOUT_MS } from './live-chat';

/** Short tests of the dashboard in a browser. `npm run test:browser` runs all of them. */

describe('the dashboard in a browser', () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let visit: DashboardPage;

  beforeAll(async () => {
    world = await DashboardInBrowser.start();
  }, START_TIMEOUT_MS);
  afterEach(() => visit.close());

  it('leads from the login to a key that works, and to a webhook that arrives', async () => {
    workspace = await world.service.make.workspace();
    const { email } = await world.agentWithPassword(workspace);
    visit = await world.open();
    const { page } = visit;

    await page.goto('/settings/api-keys');
    await visit.logIn(email);
    await page.waitForURL(`**/w/${workspace.slug}/settings/api-keys`);

    await visit.button('Create a key').first().click();
    await visit.field('Name').fill('First steps');
    await visit.act('Create a key').click();
    await visit.text('This is shown once').waitFor();
    const line = await visit.copied('Try it in a terminal');
    const [, url, key] = /^curl (\S+) -H 'Authorization: Bearer (\S+)'$/.exec(line.replace(/\s+/g, ' '))!;
    const { status } = await axios.get(url!, { headers: { authorization: `Bearer ${key}` } });
    expect(status).toBe(200);
    await visit.act('I have stored it').click();
    await visit.row('First steps').waitFor();

    await page.getByRole('link', { name: 'Webhooks' }).click();
    await visit.button('Add an endpoint').first().click();
    await visit.field('Address').fill(world.receiver.url('/smoke'));
    await visit.text('This address can be used.').waitFor();
    await visit.act('Add an endpoint').click();
    expect(await visit.copied('Secret')).toMatch(/^whsec_/);
    await visit.act('I have stored it: test now').click();
    await visit.text(/^The receiver answered 200 after/).waitFor();
    await world.receiver.waitFor(({ envelope }) => envelope.event === 'webhook.test', '/smoke');
    await visit.act('Close').last().click();

    await page.getByRole('link', { name: world.receiver.url('/smoke') }).click();
    await visit.row('webhook.test').getByRole('link').click();
    await visit.attempt(1).filter({ hasText: '200' }).waitFor();
    expect(await visit.copied('Request body')).toContain('"event": "webhook.test"');
    expect(visit.errors).toEqual([]);
  });

  it('leads an agent into the inbox, where a reply is sent and its conversation closed', async () => {
    const { make } = world.service;
    workspace = await make.workspace();
    visit = await world.enter(workspace, 'AGENT');
    const { page } = visit;
    const { id } = await make.conversation(workspace);
    await make.received(workspace, { id }, 'Where is my parcel?');
    await page.goto('/');
    await page.getByRole('link', { name: 'Unassigned 1' }).click();
    await page.getByRole('link', { name: /Where is my parcel/ }).click();
    await visit.field('Reply').fill('On its way.');
    await visit.button('Send and close').click();
    // The next conversation opens, if there is one.
    await visit.field('Reply').waitFor({ state: 'detached' });
    await page.goto(`/w/${workspace.slug}/inbox/${id}?view=mine&status=CLOSED`);
    await visit.text('Closed by you').waitFor();
    await page.locator('article').filter({ hasText: 'On its way.' }).getByText('You').waitFor();
    expect(visit.errors).toEqual([]);
  });

  it.each([
    ['does not answer', (route: Route) => route.abort('connectionrefused')],
    ['answers 503', (route: Route) => route.fulfill({ status: 503, body: '{}' })],
    ['never answers', () => undefined],
  ])(
    'says that the server %s before any list is read again, and goes on by itself',
    async (_, refuse: (route: Route) => unknown) => {
      workspace = await world.service.make.workspace();
      visit = await world.enter(workspace);
      await visit.settings(workspace, 'api-keys');
      await visit.text('There is no API key yet').waitFor();
      const away = visit.text('The service cannot be reached');
      await visit.page.route(/\/(?:api|health)\//, refuse);
      await away.waitFor({ timeout: 9_000 });
      await visit.text('There is no API key yet').waitFor();
      await visit.page.unroute(/\/(?:api|health)\//);
      await away.waitFor({ state: 'detached' });
      await visit.comeToRest();
      expect(await visit.page.getByRole('alert').count()).toBe(0);
      expect(visit.errors).toEqual([]);
    },
  );
});
