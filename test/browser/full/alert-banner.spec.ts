import { SYSTEM } from '../../../src/access/principal';
import { AgentsService } from '../../../src/workspaces/agents.service';
import { CreatedWebhookEndpoint } from '../../../src/webhooks/endpoints/webhook-endpoint.dto';
import { WebhookWorkspace } from '../../support/webhook-workspace';
import { waitFor } from '../../support/wait';
import { accessibilityFaultsOf } from '../accessibility';
import { DashboardInBrowser, DashboardPage } from '../dashboard-in-browser';
import { PHONE } from '../phone';
import { withDashboard } from '../with-dashboard';

/** Tests of the banner of alerts, and of the automatic recovery that it offers. */
describe('the banner of an endpoint that fails', () => {
  let world: DashboardInBrowser;
  let tenant: WebhookWorkspace;
  let endpoint: CreatedWebhookEndpoint;

  withDashboard(async (started) => {
    world = started;
    tenant = await WebhookWorkspace.create(world.service);
    endpoint = await tenant.addEndpoint(world.receiver.url('/orders'), { name: 'Order desk' });
    answer(500);
  });

  const answer = (status: number) => {
    world.receiver.https.respond = (response) => response.writeHead(status).end();
  };
  const banner = ({ page }: DashboardPage, name = '1 alert') =>
    page.getByRole('region', { name, exact: true });
  const isOn = async () => (await tenant.endpoints.get(tenant.id, endpoint.id, SYSTEM)).automaticRecovery;
  /** Lets the page read again, as it does when a person comes back to its tab. */
  const comeBack = ({ page }: DashboardPage) =>
    page.evaluate(() => void document.dispatchEvent(new Event('visibilitychange', { bubbles: true })));
  /** Lets an event be given up, and waits until the page that is open shows the alert. */
  async function fail(visit: DashboardPage, name?: string): Promise<void> {
    await tenant.exhaust(endpoint);
    await waitFor('the banner', async () => {
      await comeBack(visit);
      return banner(visit, name).isVisible();
    });
  }
  async function isClean({ page }: DashboardPage): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      // Some controls fade to the colours of the scheme.
      await page.waitForFunction(() => document.getAnimations().length === 0);
      expect(await accessibilityFaultsOf(page, 'body')).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: 'light' });
  }

  it('appears with a mark, recovers the endpoint in one press by keyboard, and goes when it answers', async () => {
    const visit = await world.enter(tenant.workspace, 'ADMIN');
    const { page } = visit;
    await visit.settings(tenant.workspace, 'channels');
    expect(await page.getByRole('link', { name: 'Overview', exact: true }).count()).toBe(1);
    await fail(visit);
    const shown = banner(visit);
    await page.getByRole('link', { name: 'Overview 1 alert', exact: true }).waitFor();
    await shown.getByText('A webhook endpoint fails: Order desk').waitFor();
    await shown.getByText('can be delivered by themselves').waitFor();
    await isClean(visit);

    await page.getByRole('link', { name: /Skip/ }).focus();
    const press = shown.getByRole('button', { name: 'Recover automatically' });
    await waitFor('the button to have the focus', async () => {
      await page.keyboard.press('Tab');
      return press.evaluate((button) => button === document.activeElement);
    });
    await page.keyboard.press('Enter');
    await shown.getByText(/is tried from time to time.+First try: /).waitFor();
    expect(await isOn()).toBe(true);
    expect(await press.count()).toBe(0);
    await waitFor('the focus in the banner', () =>
      shown.evaluate((region) => region.contains(document.activeElement)),
    );
    await isClean(visit);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/webhooks/${endpoint.id}`);
    const section = page.getByRole('region', { name: 'Automatic recovery', exact: true });
    await section.getByText(/First try: /).waitFor();
    // The endpoint's page says the same.
    expect(await shown.count()).toBe(0);
    await isClean(visit);

    answer(200);
    await tenant.message();
    await tenant.waitForStatus(endpoint, 'succeeded', 2);
    await page.getByRole('link', { name: 'Channels', exact: true }).click();
    await waitFor('the news alone', async () => {
      await comeBack(visit);
      return shown.getByText('A webhook endpoint has recovered: Order desk').isVisible();
    });
    expect(await shown.getByRole('status').count()).toBe(1);
    await isClean(visit);
  }, 90_000);

  it('goes when an event arrives again', async () => {
    const visit = await world.enter(tenant.workspace);
    await visit.settings(tenant.workspace, 'webhooks');
    await fail(visit);
    answer(200);
    await tenant.message();
    await waitFor('no banner', async () => {
      await comeBack(visit);
      return (await banner(visit).count()) === 0;
    });
    expect(await visit.page.getByRole('img', { name: '1 alert' }).count()).toBe(0);
  }, 60_000);

  it('ends the recovery by one press on the page of the endpoint', async () => {
    const visit = await world.enter(tenant.workspace);
    await tenant.edit(endpoint, { automaticRecovery: true });
    await tenant.exhaust(endpoint);
    await visit.settings(tenant.workspace, `webhooks/${endpoint.id}`);
    const section = visit.page.getByRole('region', { name: 'Automatic recovery', exact: true });
    await section.getByText(/First try: /).waitFor();
    await visit.button('Cancel automatic recovery').press('Enter');
    const rest = section.getByText('On. What the endpoint misses from now on');
    await rest.waitFor();
    expect(await rest.evaluate((text) => text === document.activeElement)).toBe(true);
    expect(await isOn()).toBe(true);
    await isClean(visit);
  }, 60_000);

  it('says who may recover to a person who no longer may', async () => {
    const visit = await world.enter(tenant.workspace, 'ADMIN');
    await visit.settings(tenant.workspace, 'channels');
    await fail(visit);
    await world.service.app.get(AgentsService).update(tenant.id, visit.agent.id, { role: 'AGENT' }, SYSTEM);
    await banner(visit).getByRole('button', { name: 'Recover automatically' }).click();
    await banner(visit).getByText('Ask an owner or an admin of the workspace to do this.').waitFor();
    expect(await isOn()).toBe(false);
  }, 60_000);

  it('tells of an endpoint that was switched off, and which step a recovery waits for', async () => {
    const visit = await world.enter(tenant.workspace);
    await visit.settings(tenant.workspace, 'overview');
    await fail(visit);
    await world.service.query(
      `UPDATE webhook_endpoints SET failing_since = now() - interval '6 days' WHERE id = $1`,
      [endpoint.id],
    );
    await tenant.exhaust(endpoint);
    const shown = banner(visit);
    await waitFor('the alert', async () => {
      await comeBack(visit);
      return shown.getByText('A webhook endpoint was switched off: Order desk').isVisible();
    });
    await shown.getByText('All deliveries failed for five days').waitFor();
    // The banner alone tells of it.
    expect(
      await visit.page.getByRole('region', { name: 'What needs attention' }).getByText('Order desk').count(),
    ).toBe(0);
    await shown.getByRole('button', { name: 'Recover automatically' }).click();
    await shown.getByText('Activate it, and it gets what it has missed.').waitFor();
    await shown.getByRole('link', { name: 'To the endpoint' }).click();
    await visit.page.waitForURL(`**/webhooks/${endpoint.id}`);
    await visit.button('Activate').waitFor();
  }, 60_000);

  it('fits a phone in German, whose header has the mark', async () => {
    const visit = await world.enter(tenant.workspace, 'OWNER', { ...PHONE, locale: 'de-DE' });
    const { page } = visit;
    await visit.settings(tenant.workspace, 'channels');
    await fail(visit, '1 Warnung');
    const shown = banner(visit, '1 Warnung');
    await shown.getByText('Ein Webhook-Endpunkt ist gestört: Order desk').waitFor();
    await isClean(visit);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(PHONE.viewport.width);
    await shown.getByRole('button', { name: 'Automatisch nachholen' }).tap();
    await shown.getByText(/von Zeit zu Zeit versucht.+Erster Versuch: /).waitFor();
    await page.getByRole('banner').getByRole('link', { name: '1 Warnung' }).tap();
    await page.waitForURL('**/overview');
    await shown.getByRole('link', { name: 'Zum Endpunkt' }).tap();
    await page.waitForURL(`**/webhooks/${endpoint.id}`);
    await page.getByText(/Erster Versuch: /).waitFor();
    await isClean(visit);
  }, 60_000);
});
