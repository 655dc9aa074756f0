import { CDPSession, Worker } from 'playwright-core';
import { generateVAPIDKeys } from 'web-push';
import { newId } from '../../src/common/ids';
import { PushNotice } from '../../src/notices/push/push-message';
import { PushSender } from '../../src/notices/push/push-sender';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { PushService, Subscription } from '../support/push-service';
import { waitFor } from '../support/wait';
import { PASSWORD, TestDashboard } from '../support/test-dashboard';
import { accessibilityFaultsOf } from './accessibility';
import { AgentPage, DashboardInBrowser } from './dashboard-in-browser';
import { PHONE } from './phone';
import { withDashboard } from './with-dashboard';

const VAPID = generateVAPIDKeys();
const LABEL = {
  'en-GB': 'Show notices in this browser',
  'de-DE': 'Benachrichtigungen in diesem Browser zeigen',
};

/**
 * Tests of notices in a browser. Debian's Chromium has no push service, so the test's own one takes the
 * subscription. The service worker gets what that one has received, as from Chromium's push service.
 */
describe('notices in a closed browser', () => {
  let world: DashboardInBrowser;
  let dashboard: TestDashboard | undefined;
  let push: PushService;
  let workspace: WorkspaceEntity;

  withDashboard(async (started) => {
    world = started;
    dashboard ??= await TestDashboard.create(world.service.stores, {
      PUBLIC_URL: world.service.baseUrl,
      VAPID_PUBLIC_KEY: VAPID.publicKey,
      VAPID_PRIVATE_KEY: VAPID.privateKey,
      VAPID_CONTACT: 'mailto:ops@example.com',
    });
    push ??= await PushService.start();
    workspace = await world.service.make.workspace();
  });

  const enter = (options: Parameters<DashboardInBrowser['enter']>[2] = {}) =>
    world.enter(workspace, 'AGENT', { dashboard, ...options });
  const choice = ({ page }: AgentPage, locale: keyof typeof LABEL = 'en-GB') =>
    page.getByRole('switch', { name: LABEL[locale] });
  /** Pushes a notice to an agent. Returns the number of browsers whose push services have taken it. */
  async function send(visit: AgentPage, notice: PushNotice): Promise<number> {
    return (await dashboard!.get(PushSender).send(workspace.id, visit.agent.id, notice)).taken;
  }

  it('are turned on by a press, tested, shown, and open their page', async () => {
    const visit = await enter();
    const { page } = visit;
    const subscription = await subscribeAt(push, visit);
    await visit.context.grantPermissions(['notifications']);
    await page.goto('/account');
    expect(await choice(visit).isChecked()).toBe(false);
    await choice(visit).focus();
    await page.keyboard.press('Space');
    await visit.button('Send me a test').click();
    await visit.text('Sent. It should appear in a moment.').waitFor();
    expect(await choice(visit).isChecked()).toBe(true);
    expect(await accessibilityFaultsOf(page, 'main')).toEqual([]);
    await shoot(visit, 'on');

    const worker = await workerOf(visit);
    const [test] = push.receivedBy(subscription);
    await deliver(visit, JSON.stringify(test!.content));
    await waitFor('the test', async () => (await shownIn(worker)).some(({ title }) => title === 'It works'));

    const { id } = await world.service.make.begun(workspace, 'Zoë Martín', 'Where is my parcel?');
    const path = `/w/${workspace.slug}/inbox/${id}`;
    const notice = { id: newId(), title: 'Zoë Martín', body: 'Where is my parcel?', path };
    expect(await send(visit, notice)).toBe(1);
    const text = JSON.stringify(push.receivedBy(subscription).at(-1)!.content);
    await deliver(visit, text);
    await deliver(visit, text.replace('parcel', 'shoe'));
    await waitFor('the second notice in place of the first', async () => {
      const shown = (await shownIn(worker)).filter(({ tag }) => tag === notice.id);
      return shown.length === 1 && shown[0]!.body === 'Where is my shoe?';
    });
    expect(await click(worker, notice.id)).toEqual({
      opened: [page.url().replace('/account', path)],
      focused: [],
    });

    // A tab that has gone to the conversation is focused instead, until it goes elsewhere.
    const { origin } = new URL(page.url());
    const inbox = `/w/${workspace.slug}/inbox?view=all`;
    await page.goto(inbox);
    await page.getByRole('link', { name: /Where is my parcel/ }).click();
    await page.waitForURL(`**${path}**`);
    await deliver(visit, text);
    // Chromium says at which address the tab was loaded.
    expect(await click(worker, notice.id)).toEqual({ opened: [], focused: [origin + inbox] });
    await page.getByRole('link', { name: 'Contacts' }).click();
    await page.waitForURL('**/contacts');
    await deliver(visit, text);
    expect(await click(worker, notice.id)).toEqual({ opened: [origin + path], focused: [] });
    // A page of another site is never opened.
    await deliver(visit, text.replace(path, 'https://example.com/'));
    expect(await click(worker, notice.id)).toEqual({ opened: [], focused: [] });
  }, 90_000);

  it('are turned off, and on again with the next login of the same person alone', async () => {
    const visit = await enter();
    const { page } = visit;
    const first = await subscribeAt(push, visit);
    await visit.context.grantPermissions(['notifications']);
    await page.goto('/account');
    await choice(visit).click();
    await visit.button('Send me a test').waitFor();
    const notice = { id: newId(), title: 'News', body: 'Of the inbox', path: '/account' };
    expect(await send(visit, notice)).toBe(1);

    await page.getByRole('button', { name: /^Your account/ }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.waitForURL('**/login**');
    expect(await send(visit, notice)).toBe(0);
    const stranger = await world.agentWithPassword(workspace);
    await visit.logIn(stranger.email);
    await page.waitForURL(`**/w/${workspace.slug}/**`);
    await page.goto('/account');
    await choice(visit).waitFor();
    expect(await choice(visit).isChecked()).toBe(false);
    await page.getByRole('button', { name: /^Your account/ }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await visit.logIn(visit.agent.email, PASSWORD);
    await page.waitForURL(`**/w/${workspace.slug}/**`);
    await waitFor('the address of the new login', () => send(visit, notice));
    expect(push.receivedBy(first)).toHaveLength(2);

    await page.goto('/account');
    await choice(visit).click();
    await visit.button('Send me a test').waitFor({ state: 'detached' });
    expect(await send(visit, notice)).toBe(0);
  }, 90_000);

  it.each(['en-GB', 'de-DE'] as const)(
    'say why they can not be turned on (%s)',
    async (locale) => {
      const visit = await enter({ ...PHONE, locale });
      const { page } = visit;
      await page.goto('/account');
      // Without a permission, Chromium without a head denies at once.
      await choice(visit, locale).tap();
      await visit
        .text(locale === 'en-GB' ? /does not allow notices/ : /erlaubt dieser Seite keine/)
        .waitFor();
      expect(await choice(visit, locale).isChecked()).toBe(false);
      expect(await accessibilityFaultsOf(page, 'main')).toEqual([]);
      await shoot(visit, `denied-${locale}`);
      await visit.context.grantPermissions(['notifications']);
      await choice(visit, locale).tap();
      // Debian's Chromium has no push service.
      await visit
        .text(locale === 'en-GB' ? /push service did not answer/ : /Push-Dienst .* nicht geantwortet/)
        .waitFor();
      expect(await choice(visit, locale).isChecked()).toBe(false);
      // Chromium says why in its console.
      expect(visit.errors.splice(0)).toEqual([expect.stringContaining('incognito')]);
    },
    60_000,
  );

  it('are not offered by a browser or a service that does not know them', async () => {
    const without = await enter();
    await without.page.addInitScript(() => Reflect.deleteProperty(window, 'PushManager'));
    await without.page.goto('/account');
    await without.text('This browser can’t show notices.').waitFor();
    const keyless = await world.enter(workspace);
    await keyless.page.goto('/account');
    await keyless.page.getByRole('heading', { name: 'Password' }).waitFor();
    await keyless.comeToRest();
    expect(await keyless.page.getByRole('heading', { name: 'Notices in this browser' }).count()).toBe(0);
  });
});

/** Makes the browser subscribe at the test's push service, before a page loads. */
async function subscribeAt(push: PushService, { page }: AgentPage): Promise<Subscription> {
  const subscription = push.subscribe();
  await page.addInitScript(({ endpoint, ...keys }) => {
    const made = { toJSON: () => ({ endpoint, keys }), unsubscribe: () => Promise.resolve(true) };
    PushManager.prototype.subscribe = () => Promise.resolve(made as unknown as PushSubscription);
  }, subscription);
  return subscription;
}

async function workerOf({ context }: AgentPage): Promise<Worker> {
  return context.serviceWorkers()[0] ?? context.waitForEvent('serviceworker');
}

/**
 * Passes the text of a push to the service worker, as Chromium does, and waits until the notification is
 * shown. Chromium loses a notification if a worker asks for the shown ones at that moment.
 */
async function deliver(visit: AgentPage, data: string): Promise<void> {
  const { context, page } = visit;
  const worker = await workerOf(visit);
  await worker.evaluate(() => {
    const scope = self as unknown as { registration: ServiceWorkerRegistration; shown: Promise<void> };
    const { registration } = scope;
    scope.shown = new Promise((resolve, reject) => {
      registration.showNotification = (...notification) => {
        const shown = ServiceWorkerRegistration.prototype.showNotification.apply(registration, notification);
        shown.then(resolve, reject);
        return shown;
      };
    });
  });
  const cdp: CDPSession = await context.newCDPSession(page);
  const found = new Promise<string>((resolve) => {
    cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      if (registrations[0]) resolve(registrations[0].registrationId);
    });
  });
  await cdp.send('ServiceWorker.enable');
  const { origin } = new URL(page.url());
  await cdp.send('ServiceWorker.deliverPushMessage', { origin, registrationId: await found, data });
  await worker.evaluate(() => (self as unknown as { shown: Promise<void> }).shown);
  await cdp.detach();
}

/** Returns the notifications that are shown. */
async function shownIn(worker: Worker): Promise<{ title: string; body: string; tag: string }[]> {
  return worker.evaluate(async () => {
    const { registration } = self as unknown as { registration: ServiceWorkerRegistration };
    return (await registration.getNotifications()).map(({ title, body, tag }) => ({ title, body, tag }));
  });
}

/** Clicks a notification, and returns which page the service worker opens, or the page of the focused tab. */
async function click(worker: Worker, tag: string): Promise<{ opened: string[]; focused: string[] }> {
  await waitFor('the notification', async () => (await shownIn(worker)).some((shown) => shown.tag === tag));
  return worker.evaluate(async (clicked) => {
    const { registration, clients, WindowClient } = self as unknown as {
      registration: ServiceWorkerRegistration;
      clients: { openWindow: (url: string) => Promise<null> };
      WindowClient: { prototype: { focus: (this: { url: string }) => Promise<void> } };
    };
    const done: { opened: string[]; focused: string[] } = { opened: [], focused: [] };
    // Chromium allows both only after a person's click.
    clients.openWindow = (url) => {
      done.opened.push(url);
      return Promise.resolve(null);
    };
    WindowClient.prototype.focus = function () {
      done.focused.push(this.url);
      return Promise.resolve();
    };
    const [notification] = await registration.getNotifications({ tag: clicked });
    let work: Promise<void> | undefined;
    const waitUntil = (promise: Promise<void>) => (work = promise);
    self.dispatchEvent(Object.assign(new Event('notificationclick'), { notification, waitUntil }));
    await work;
    return done;
  }, tag);
}

/** Takes pictures in the folder that the variable names, for a person who wants to look at them. */
async function shoot({ page }: AgentPage, name: string): Promise<void> {
  const folder = process.env['PUSH_PICTURES'];
  if (!folder) return;
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.screenshot({ path: `${folder}/${name}-dark.png`, fullPage: true });
  await page.emulateMedia({ colorScheme: 'light' });
}
