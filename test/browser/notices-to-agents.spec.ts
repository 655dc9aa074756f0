import { generateVAPIDKeys } from 'web-push';
import { Mailbox } from '../support/mailbox';
import { TestService } from '../support/service';
import { TestDashboard } from '../support/test-dashboard';
import { accessibilityFaultsOf } from './accessibility';
import { DashboardInBrowser } from './dashboard-in-browser';
import { PHONE } from './phone';
import { withDashboard } from './with-dashboard';

describe('notices to agents in a browser', () => {
  let world: DashboardInBrowser;
  let mailbox: Mailbox;
  /** The dashboard of a service that sends mails. */
  let dashboard: TestDashboard;

  withDashboard(async (started) => {
    if (world) return;
    world = started;
    mailbox = await Mailbox.start();
    const env = { SMTP_URL: mailbox.url, MAIL_FROM: 'login@example.com' };
    const { publicKey, privateKey } = generateVAPIDKeys();
    dashboard = await TestDashboard.create(world.service.stores, {
      ...env,
      VAPID_PUBLIC_KEY: publicKey,
      VAPID_PRIVATE_KEY: privateKey,
      VAPID_CONTACT: 'mailto:ops@example.com',
    });
    await TestService.create({ role: 'worker', beside: world.service, env });
  });

  it('are chosen by keyboard, mailed to who is not there, and open the conversation', async () => {
    const workspace = await world.service.make.workspace({ name: 'Acme' });
    const visit = await world.enter(workspace, 'AGENT', { dashboard });
    const { page, agent } = visit;
    await page.goto('/account');
    const byMail = page.getByRole('group', { name: /^By mail/ });
    const nobodys = byMail.getByRole('checkbox', { name: 'A customer writes, and nobody is assigned' });
    await nobodys.focus();
    const stored = () => page.waitForResponse((response) => response.request().method() === 'PATCH');
    let answer = stored();
    await page.keyboard.press('Space');
    expect(await (await answer).json()).toMatchObject({ mailMatters: ['NOBODYS'], mailAfterMinutes: 15 });
    answer = stored();
    await page
      .getByRole('combobox', { name: /: When$/ })
      .first()
      .selectOption('0');
    expect(await (await answer).json()).toMatchObject({ mailMatters: ['NOBODYS'], mailAfterMinutes: 0 });
    await page.reload();
    expect(await nobodys.isChecked()).toBe(true);

    const { id: contactId } = await world.service.make.contact(workspace, { name: 'Ada Lovelace' });
    const conversation = await world.service.make.conversation(workspace, { contactId });
    await world.service.make.received(workspace, conversation, 'Is anybody there?');
    const { text } = await mailbox.next(agent.email);
    const link = /http:\S+\/inbox\/\S+/.exec(text)![0];
    const told = page.waitForResponse((response) => response.url().endsWith('/inbox/presence/active'));
    await page.goto(new URL(link).pathname);
    await page.locator('article').getByText('Is anybody there?').waitFor();
    expect((await told).status()).toBe(204);
  });

  it.each([
    ['light', 'desktop', {}, 'en-GB'],
    ['dark', 'desktop', {}, 'de-DE'],
    ['dark', 'phone', PHONE, 'de-DE'],
  ] as const)('are accessible on the account page: %s, on a %s', async (colorScheme, _, size, locale) => {
    const workspace = await world.service.make.workspace({ name: 'Acme' });
    const visit = await world.enter(workspace, 'AGENT', { ...size, colorScheme, locale, dashboard });
    await visit.page.goto('/account');
    await visit.page.getByRole('checkbox').nth(5).waitFor();
    const shots = process.env['SHOTS'];
    if (shots) await visit.page.screenshot({ path: `${shots}/${colorScheme}-${_}.png`, fullPage: true });
    expect(await accessibilityFaultsOf(visit.page, 'main')).toEqual([]);
    const width = await visit.page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(visit.page.viewportSize()!.width);
  });

  it('are not offered by a service that sends nothing', async () => {
    const workspace = await world.service.make.workspace({ name: 'Acme' });
    const { page } = await world.enter(workspace, 'AGENT');
    await page.goto('/account');
    await page.getByText('This service sends no notices: it has no mail server.').waitFor();
    expect(await page.getByRole('checkbox').count()).toBe(0);
  });
});
