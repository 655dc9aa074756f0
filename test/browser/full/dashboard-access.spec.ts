import { SYSTEM } from '../../../src/access/principal';
import { WebhookTestService } from '../../../src/webhooks/testing/webhook-test.service';
import { WebhookDeliveriesService } from '../../../src/webhooks/browsing/webhook-deliveries.service';
import { WebhookEndpointsService } from '../../../src/webhooks/endpoints/webhook-endpoints.service';
import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { accessibilityFaultsOf } from '../accessibility';
import { DashboardInBrowser, DashboardPage } from '../dashboard-in-browser';
import { START_TIMEOUT_MS } from '../live-chat';

const AGENT_PAGES = ['overview', 'workspace', 'agents', 'saved-replies'];
const PAGES = [...AGENT_PAGES, 'api-keys', 'webhooks', 'channels', 'audit', 'diagnostics'];

describe('who sees what of the dashboard in a browser', () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let endpointId: string;
  let deliveryId: string;

  beforeAll(async () => {
    world = await DashboardInBrowser.start();
    workspace = await world.service.make.workspace();
    await world.service.make.apiKey(workspace);
    const { app } = world.service;
    const input = { url: world.receiver.url(), events: ['*'] };
    ({ id: endpointId } = await app.get(WebhookEndpointsService).create(workspace.id, input, SYSTEM));
    await app.get(WebhookTestService).test(workspace.id, endpointId, SYSTEM);
    const { data } = await app.get(WebhookDeliveriesService).list(workspace.id, { limit: 1 }, SYSTEM);
    deliveryId = data[0]!.id;
  }, START_TIMEOUT_MS);

  const allPages = () => [
    ...PAGES,
    `webhooks/${endpointId}`,
    `webhooks/${endpointId}/deliveries/${deliveryId}`,
  ];
  const nothing = (visit: DashboardPage) =>
    visit.page.getByRole('heading', { name: 'Nothing is here' }).waitFor();

  it("finds nothing at another workspace's addresses", async () => {
    const own = await world.service.make.workspace();
    const visit = await world.enter(own);
    for (const path of allPages()) {
      await visit.page.goto(`/w/${workspace.slug}/settings/${path}`);
      await nothing(visit);
    }
    for (const path of [`webhooks/${endpointId}`, `webhooks/${endpointId}/deliveries/${deliveryId}`]) {
      await visit.page.goto(`/w/${own.slug}/settings/${path}`);
      await nothing(visit);
    }
    for (const path of ['/no/such/page', `/w/${workspace.slug}/inbox`]) {
      await visit.page.goto(path);
      await nothing(visit);
    }
    expect(visit.errors).toEqual([]);
    await visit.close();
  });

  it.each(['OWNER', 'ADMIN'] as const)('lets an %s change the settings', async (role) => {
    const visit = await world.enter(workspace, role);
    await visit.settings(workspace, 'api-keys');
    await visit.button('Create a key').waitFor();
    await visit.settings(workspace, `webhooks/${endpointId}`);
    await visit.button('Test').waitFor();
    await visit.close();
  });

  it('lets an AGENT look at the workspace and its agents, and says why there is no more', async () => {
    const visit = await world.enter(workspace, 'AGENT');
    await visit.settings(workspace, 'overview');
    const links = await visit.page.getByRole('navigation').getByRole('link').allInnerTexts();
    expect(links).toEqual(expect.arrayContaining(['Workspace', 'Agents']));
    for (const name of ['API keys', 'Webhooks', 'Channels', 'Audit log']) expect(links).not.toContain(name);
    for (const path of ['workspace', 'agents']) {
      await visit.settings(workspace, path);
      await visit.text('Only owners and admins can change them.').waitFor();
      await visit.comeToRest();
      for (const name of ['Save', 'Invite an agent'])
        expect(await visit.button(name).and(visit.page.locator(':enabled')).count()).toBe(0);
    }
    for (const path of allPages().filter((page) => !AGENT_PAGES.includes(page))) {
      await visit.settings(workspace, path);
      await visit.page.getByRole('heading', { name: 'Only owners and admins see this page' }).waitFor();
    }
    await visit.comeToRest();
    expect(await accessibilityFaultsOf(visit.page, 'main')).toEqual([]);
    expect(visit.errors).toEqual([]);
    await visit.close();
  });

  it('offers an ADMIN no role above their own', async () => {
    const visit = await world.enter(workspace, 'ADMIN');
    await visit.settings(workspace, 'agents');
    await visit.button('Invite an agent').click();
    expect(await visit.field('Role').locator('option').allInnerTexts()).toEqual(['Agent', 'Admin']);
    await visit.close();
  });

  it('lets an ADMIN lengthen the retention of messages, and not shorten it', async () => {
    const kept = await world.service.make.workspace({ messageRetentionDays: 30 });
    const visit = await world.enter(kept, 'ADMIN');
    await visit.settings(kept, 'workspace');
    const form = visit.page.getByRole('region', { name: 'Retention of messages' });
    const save = form.getByRole('button', { name: 'Save' });
    await visit.field('Days to keep').fill('29');
    expect(await save.isDisabled()).toBe(true);
    await visit.field('Days to keep').fill('');
    await save.click();
    await visit.text('It takes effect in the next night.').waitFor();
    await visit.close();
  });

  it('says after the trial what still works, and lets settings be changed', async () => {
    const expired = await world.service.make.expiredTrial();
    const visit = await world.enter(expired);
    await visit.settings(expired, 'api-keys');
    await visit.text(/^The trial ended on/).waitFor();
    await visit.text(/Your agents and programs can read/).waitFor();
    await visit.button('Create a key').first().click();
    await visit.field('Name').fill('After the trial');
    await visit.act('Create a key').click();
    await visit.text('This is shown once').waitFor();
    await visit.close();
  });

  describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
    it('has no accessibility fault on any page, on a desk and on a phone', async () => {
      const visit = await world.enter(workspace, 'OWNER', { colorScheme });
      for (const path of [...allPages().map((page) => `/w/${workspace.slug}/settings/${page}`), '/account']) {
        await visit.page.goto(path);
        await visit.comeToRest();
        for (const width of [1280, 390]) {
          await visit.page.setViewportSize({ width, height: 844 });
          // The navigation leaves, and the chart takes its new width. Then nothing may stick out.
          await visit.page.waitForFunction(
            () =>
              document.getAnimations().length === 0 &&
              document.documentElement.scrollWidth <= document.documentElement.clientWidth,
          );
          expect([path, width, await accessibilityFaultsOf(visit.page, 'html')]).toEqual([path, width, []]);
        }
      }
      await visit.close();
    });

    it('has none before the login', async () => {
      const visit = await world.open({ colorScheme });
      for (const path of ['/login', '/welcome']) {
        await visit.page.goto(path);
        await visit.comeToRest();
        expect([path, await accessibilityFaultsOf(visit.page, 'html')]).toEqual([path, []]);
      }
      await visit.close();
    });

    it('has none in an open dialog', async () => {
      const visit = await world.enter(workspace, 'OWNER', { colorScheme });
      await visit.settings(workspace, 'api-keys');
      await visit.button('Create a key').click();
      await visit.field('Name').waitFor();
      expect(await accessibilityFaultsOf(visit.page, '[role="dialog"]')).toEqual([]);
      await visit.close();
    });
  });

  it('does everything by keyboard: makes a key and closes its dialog', async () => {
    const visit = await world.enter(workspace);
    await visit.settings(workspace, 'api-keys');
    const { keyboard } = visit.page;
    await keyboard.press('Tab');
    expect(await focused(visit)).toBe('Skip to the content');
    await keyboard.press('Enter');
    await keyboard.press('Tab');
    expect(await focused(visit)).toBe('Create a key');
    await keyboard.press('Enter');
    await visit.field('Name').waitFor();
    await keyboard.type('By keyboard');
    await keyboard.press('Enter');
    await visit.text('This is shown once').waitFor();
    // A stray key must not close a dialog whose content is shown only once.
    await keyboard.press('Escape');
    await visit.act('I have stored it').focus();
    await keyboard.press('Enter');
    await visit.row('By keyboard').waitFor();
    // The focus returns to its place before the dialog.
    expect(await focused(visit)).toBe('Create a key');
    await visit.button('Create a key').press('Enter');
    await visit.field('Name').waitFor();
    await keyboard.press('Escape');
    await visit.dialog.waitFor({ state: 'detached' });
    expect(visit.errors).toEqual([]);
    await visit.close();
  });
});

function focused({ page }: DashboardPage): Promise<string | undefined> {
  return page.evaluate(() => document.activeElement?.textContent?.trim());
}
