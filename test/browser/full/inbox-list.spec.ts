import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { letTimePass, waitFor } from '../../support/wait';
import { accessibilityFaultsOf } from '../accessibility';
import { AgentPage, DashboardInBrowser } from '../dashboard-in-browser';
import { PHONE } from '../phone';
import { withDashboard } from '../with-dashboard';

/** Number of conversations that are three pages of the list. */
const MANY = 130;
/** Limit of the rows that are rendered. */
const MAX_RENDERED = 50;

/** Tests of a list of which most is out of sight. */
describe('the list of the inbox', () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let visit: AgentPage;
  /** The contacts of the conversations: `Contact 0` wrote first, and is the last row. */
  let all: { id: string }[];

  withDashboard(async (started) => {
    world = started;
    workspace = await world.service.make.workspace();
    visit = await world.enter(workspace, 'AGENT');
    all = [];
  });

  async function makeConversations(count: number) {
    for (let n = 0; n < count; n += 1)
      all.push(await world.service.make.begun(workspace, `Contact ${all.length}`));
  }
  const open = async (path = '?view=all') => {
    await visit.page.goto(`/w/${workspace.slug}/inbox${path}`);
    await visit.page.locator('[data-conversation]').first().waitFor();
  };
  const rows = () => visit.page.locator('[data-conversation]');
  const row = (n: number) => visit.page.locator(`[data-conversation="${all[n]!.id}"]`);
  const section = () => visit.page.getByRole('region', { name: 'Conversations', exact: true });
  const hasFocus = (n: number) => row(n).and(visit.page.locator(':focus')).waitFor();
  const placeOf = async (n: number) => Number(await row(n).locator('..').getAttribute('aria-posinset'));
  const loaded = async () => Number(await visit.page.locator('ul[data-loaded]').getAttribute('data-loaded'));
  const topOf = async (n: number) => Math.round((await row(n).boundingBox())!.y);
  /** Scrolls to a part of the list between 0, its top, and 1. */
  const scrollTo = (part: number) =>
    visit.page.evaluate((to) => {
      const scroller = document.querySelector('[data-conversation]')!.closest('ul')!.parentElement!;
      scroller.scrollTop = to * scroller.scrollHeight;
    }, part);
  const loadAll = async () => {
    await waitFor('all rows', async () => {
      await scrollTo(1);
      return (await loaded()) === all.length;
    });
  };

  it('renders the rows in sight alone, and keeps the focus in a row that is scrolled out of sight', async () => {
    await makeConversations(MANY);
    await open();
    expect(await rows().count()).toBeLessThanOrEqual(MAX_RENDERED);
    // axe can't tell the contrast of the rows below the edge.
    const faults = await accessibilityFaultsOf(visit.page, 'main');
    expect(faults.filter((fault) => !fault.startsWith('color-contrast:'))).toEqual([]);
    await loadAll();
    await scrollTo(1);
    await row(0).waitFor();
    expect(await placeOf(0)).toBe(MANY);
    expect(await rows().count()).toBeLessThanOrEqual(MAX_RENDERED);
    expect(await row(MANY - 1).count()).toBe(0);

    await scrollTo(0);
    await row(MANY - 1).focus();
    await scrollTo(0.5);
    await row(MANY / 2).waitFor();
    await hasFocus(MANY - 1);
    expect(await placeOf(MANY - 1)).toBe(1);
    // J, K and Tab go on from the focused row, and show where they lead.
    await visit.page.keyboard.press('j');
    await hasFocus(MANY - 2);
    await waitFor('the row in sight', async () => (await topOf(MANY - 2)) > 0);
    await scrollTo(1);
    await row(0).waitFor();
    await visit.page.keyboard.press('Tab');
    await hasFocus(MANY - 3);
    await scrollTo(1);
    await row(0).waitFor();
    await visit.page.keyboard.press('k');
    await hasFocus(MANY - 2);
    for (let n = MANY - 3; n >= MANY - 40; n -= 1) {
      await visit.page.keyboard.press('j');
      await hasFocus(n);
    }
    await visit.page.keyboard.press('Enter');
    await row(MANY - 40)
      .and(visit.page.locator('[aria-current=page]'))
      .waitFor();
    expect(visit.page.url()).toContain(all[MANY - 40]!.id);
  }, 120_000);

  it('leaves what one looks at in its place while conversations come above it', async () => {
    await makeConversations(60);
    await open();
    await loadAll();
    await scrollTo(0.5);
    await row(28).waitFor();
    const [before, place] = [await topOf(28), await placeOf(28)];
    await makeConversations(1);
    await world.service.make.received(workspace, all[0]!, 'Are you there?');
    await waitFor('the new rows', async () => (await placeOf(28)) === place + 2);
    expect(await topOf(28)).toBe(before);
    await scrollTo(0);
    await row(60).waitFor();
    expect([await placeOf(0), await placeOf(60)]).toEqual([1, 2]);
    // At its top, the list shows what comes.
    await makeConversations(1);
    await row(61).waitFor();
    expect(await topOf(61)).toBeLessThan(await topOf(0));
  }, 120_000);

  it('is where one left it when one comes back to it on a phone', async () => {
    await visit.close();
    visit = await world.enter(workspace, 'AGENT', PHONE);
    await makeConversations(60);
    await open();
    await loadAll();
    await scrollTo(0.5);
    await row(28).waitFor();
    const before = await topOf(28);
    await row(28).click();
    await visit.page.locator('article').first().waitFor();
    expect(await row(28).isVisible()).toBe(false);
    await visit.page.getByRole('link', { name: 'Back to the list' }).click();
    await hasFocus(28);
    expect(await topOf(28)).toBe(before);
  }, 120_000);

  it('reads what has changed alone, however much is loaded', async () => {
    await makeConversations(MANY);
    const { make } = world.service;
    await open();
    await loadAll();
    await scrollTo(0);
    // By now nobody reads what was missed before the stream began.
    await letTimePass(7_000);
    const reads: URLSearchParams[] = [];
    visit.page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.endsWith('/conversations')) reads.push(searchParams);
    });
    // One goes up to the top, one leaves the list, and one changes in its place.
    await make.received(workspace, all[0]!, 'Are you there?');
    await waitFor('the first row', async () => (await row(0).count()) === 1 && (await placeOf(0)) === 1);
    await make.updateConversation(workspace, all[MANY - 2]!, { status: 'CLOSED' });
    await row(MANY - 2).waitFor({ state: 'detached' });
    await make.updateConversation(workspace, all[MANY - 5]!, { assignedAgentId: visit.agent.id });
    await row(MANY - 5)
      .getByText('You', { exact: true })
      .waitFor();
    expect(await loaded()).toBe(MANY - 1);
    expect(await placeOf(MANY - 5)).toBe(5);
    const ids = reads.map((read) => read.get('ids'));
    expect(new Set(ids)).toEqual(new Set([all[0]!.id, all[MANY - 2]!.id, all[MANY - 5]!.id]));
    expect(reads.length).toBeLessThanOrEqual(6);
  }, 120_000);

  it('does not show what one has closed once more, though the server still tells of it', async () => {
    await makeConversations(2);
    let release = () => undefined as void;
    const isAsked = new Promise<void>((asked) => {
      void visit.page.route(`**/conversations/${all[0]!.id}`, async (route) => {
        if (route.request().method() === 'PATCH') {
          const released = new Promise<void>((resolve) => (release = resolve));
          asked();
          await released;
        }
        await route.continue();
      });
    });
    await open(`/${all[0]!.id}?view=nobody`);
    await visit.button('Close').click();
    await isAsked;
    await row(0).waitFor({ state: 'detached' });
    // The list is read while the server has it open.
    await makeConversations(1);
    await row(2).waitFor();
    expect(await row(0).count()).toBe(0);
    release();
    await row(1).and(visit.page.locator('[aria-current=page]')).waitFor();
    expect(await row(0).count()).toBe(0);
  });

  it('shows what one has closed again when the server refuses', async () => {
    await makeConversations(2);
    let refuse = () => undefined as void;
    await visit.page.route(`**/conversations/${all[0]!.id}`, async (route) => {
      if (route.request().method() !== 'PATCH') return route.continue();
      await new Promise<void>((resolve) => (refuse = resolve));
      return route.fulfill({ status: 503, body: '{}' });
    });
    await open(`/${all[0]!.id}?view=nobody`);
    await visit.button('Close').click();
    await row(0).waitFor({ state: 'detached' });
    await makeConversations(1);
    await row(2).waitFor();
    refuse();
    await row(0).waitFor();
    expect([await placeOf(2), await placeOf(1), await placeOf(0)]).toEqual([1, 2, 3]);
  });

  it('does not show what one has closed once more, though an older answer comes after the server closed it', async () => {
    await makeConversations(2);
    await open(`/${all[0]!.id}?view=nobody`);
    // By now nobody reads what was missed before the stream began.
    await letTimePass(7_000);
    const held: (() => void)[] = [];
    await visit.page.route('**/conversations?*ids=*', async (route) => {
      const response = await route.fetch();
      await new Promise<void>((resolve) => held.push(resolve));
      await route.fulfill({ response });
    });
    await world.service.make.received(workspace, all[0]!, 'Are you there?');
    await waitFor('an answer with the open conversation', () => held.length === 1);
    const closed = visit.page.waitForResponse((response) => response.request().method() === 'PATCH');
    await visit.button('Close').click();
    await (await closed).finished();
    await row(0).waitFor({ state: 'detached' });
    held[0]!();
    // The next read begins when the page has the older answer.
    await waitFor('the next read', () => held.length === 2);
    await letTimePass(300);
    expect(await row(0).count()).toBe(0);
    held[1]!();
    await visit.page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  it('is read in whole again when an own act has ended such a read', async () => {
    await makeConversations(2);
    await open(`/${all[0]!.id}?view=nobody`);
    // By now nobody reads what was missed before the stream began.
    await letTimePass(7_000);
    const isWhole = (url: string) => url.includes('/conversations?') && !url.includes('ids=');
    let isHeld = false;
    await visit.page.route('**/conversations?*', async (route) => {
      if (isHeld || !isWhole(route.request().url())) return route.continue();
      isHeld = true;
      return undefined;
    });
    await visit.page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
    await waitFor('the read that is held', () => isHeld);
    const again = visit.page.waitForResponse((response) => isWhole(response.url()), { timeout: 8_000 });
    await visit.button('Close').click();
    await again;
    await row(0).waitFor({ state: 'detached' });
    expect(await row(1).count()).toBe(1);
  });

  it('hands the focus of a row that goes to its neighbour, and that of the last one to the list', async () => {
    await makeConversations(4);
    await open('?view=nobody');
    await row(2).focus();
    const close = (n: number) =>
      world.service.make.updateConversation(workspace, all[n]!, { status: 'CLOSED' });
    await close(2);
    await hasFocus(1);
    await close(0);
    await row(0).waitFor({ state: 'detached' });
    await hasFocus(1);
    await close(1);
    await hasFocus(3);
    await close(3);
    await section().and(visit.page.locator(':focus')).waitFor();
  });

  it('gives rows that are snoozed a height of their own, and grows with the text size', async () => {
    await makeConversations(3);
    const heights = async () => {
      const boxes = await Promise.all((await rows().all()).map((one) => one.boundingBox()));
      const [first, second] = boxes;
      expect(Math.round(second!.y - first!.y)).toBe(Math.round(first!.height));
      return first!.height;
    };
    await open();
    const height = await heights();
    await visit.page.evaluate(() => (document.documentElement.style.fontSize = '200%'));
    expect(await heights()).toBe(2 * height);
    for (const one of all) await world.service.make.updateConversation(workspace, one, { status: 'SNOOZED' });
    await open('?view=all&status=SNOOZED');
    expect(await heights()).toBeGreaterThan(height);
    expect(await section().getByText('Snoozed until the customer writes').count()).toBe(3);
  });
});
