import { SYSTEM } from '../../../src/access/principal';
import { ContactsService } from '../../../src/contacts/contacts.service';
import { NotesService } from '../../../src/inbox/notes/notes.service';
import { SavedRepliesService } from '../../../src/inbox/saved-replies/saved-replies.service';
import { AgentEntity } from '../../../src/workspaces/agent.entity';
import { AgentsService } from '../../../src/workspaces/agents.service';
import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { waitFor } from '../../support/wait';
import { TestWidget } from '../../support/widget';
import { ChatPage } from '../../browser/chat-page';
import { DashboardInBrowser, DashboardPage } from '../../browser/dashboard-in-browser';
import { START_TIMEOUT_MS } from '../../browser/live-chat';
import { PHONE } from '../../browser/phone';
import { ShopPages } from '../../browser/shop-pages';
import { HOSTILE_NAMES, hostileTexts } from './hostile-texts';
import { Trap } from './trap';

const DESK = { width: 1280, height: 900 };
const SIZES: [string, { width: number; height: number }][] = [
  ['at a desk', DESK],
  ['on a phone', PHONE.viewport],
];
/** Characters that turn or break a line. */
const CONTROLS = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/u;
/** Elements that text must not become. */
const FOREIGN =
  'script, iframe, style, link, form form, img[src^="http"], [onerror], [onload], [onmouseover]';

/** Takes the place of the browser's notifications, which no test can see. */
const RECORD = `
  window.shown = [];
  window.Notification = class {
    static permission = 'granted';
    constructor(title, { body }) { window.shown.push({ title, body }); }
    close() {}
  };
  localStorage.setItem('dashboard-alerts', '{"notifications":true,"preview":true}');`;

/** Attacks by texts in the places around a conversation: whatever they are, they are text, and stay there. */
describe('hostile texts around a conversation', () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let visit: DashboardPage & { agent: AgentEntity };
  let trap: Trap;

  beforeAll(async () => {
    trap = await Trap.start();
    world = await DashboardInBrowser.start();
  }, START_TIMEOUT_MS);
  beforeEach(async () => {
    workspace = await world.service.make.workspace();
    visit = await world.enter(workspace, 'ADMIN');
  });
  afterEach(async () => {
    await expectText(visit);
    await visit.close();
  });

  const texts = () => hostileTexts(trap.url);
  const cut = (text: string, max: number) => [...text].slice(0, max).join('');
  const actor = () => ({ type: 'agent' as const, id: visit.agent.id });
  async function conversation(name: string, text?: string) {
    const made = await world.service.make.begun(workspace, name, text);
    return { ...made, contactId: made.contact.id };
  }
  const open = async (path: string) => {
    await visit.page.goto(`/w/${workspace.slug}/${path}`);
    await visit.page.locator('main').locator('h1, h2, article').first().waitFor({ state: 'attached' });
    await rest();
  };
  const rest = () =>
    waitFor('nothing to load', () =>
      visit.page.evaluate(() => document.querySelector('[aria-busy="true"]') === null),
    );
  /** Expects that nothing became more than text, and that nothing is wider than its place. */
  async function expectText({ page, errors }: DashboardPage): Promise<void> {
    expect(await page.evaluate(() => 'owned' in window)).toBe(false);
    expect({ asked: trap.asked, errors }).toEqual({ asked: [], errors: [] });
    expect(await page.locator('main').locator(FOREIGN).count()).toBe(0);
    const excess = await page.$$eval(
      'html, main, aside, [role=region], [role=dialog], section, form',
      (all) =>
        all
          // Rows of links reach half a rem into the padding around them.
          .filter((part) => part.scrollWidth > part.clientWidth + 8 && part.clientWidth > 0)
          .map((part) => `${part.tagName} ${part.className}: ${part.scrollWidth} > ${part.clientWidth}`),
    );
    expect(excess).toEqual([]);
  }

  it.each(SIZES)(
    'are text in what the search finds, %s',
    async (_, size) => {
      await visit.page.setViewportSize(size);
      for (const [n, text] of texts().entries())
        await conversation(HOSTILE_NAMES[n % HOSTILE_NAMES.length]!, cut(`needle ${text}`, 4_096));
      const results = visit.page.getByRole('region', { name: 'Messages' }).getByRole('link');
      await waitFor(
        'all to be found',
        async () => {
          await open('inbox?view=all');
          await visit.page.getByRole('searchbox').fill('needle');
          await results
            .first()
            .waitFor({ timeout: 3_000 })
            .catch(() => undefined);
          return (await results.count()) === texts().length;
        },
        60_000,
      );
      await rest();
      await expectText(visit);
      expect(await results.locator('mark').allTextContents()).toEqual(texts().map(() => 'needle'));
      const excerpts = await results.evaluateAll((links) =>
        links.map(
          (link) => [...link.querySelectorAll('bdi')].at(-1)!.querySelectorAll(':not(mark, span)').length,
        ),
      );
      expect(excerpts.every((count) => count === 0)).toBe(true);
    },
    120_000,
  );

  it.each(SIZES)(
    'are text in notes, %s',
    async (_, size) => {
      await visit.page.setViewportSize(size);
      const made = await conversation('Ada');
      const notes = world.dashboard.get(NotesService);
      for (const body of texts()) await notes.create(workspace.id, made.id, { body }, actor());
      await open(`inbox/${made.id}?view=all`);
      await visit.page.locator('article[data-note]').first().waitFor();
      await expectText(visit);
      const shown = await visit.page.$$eval('article[data-note] > p', (bodies) =>
        bodies.map((body) => ({ text: body.textContent, elements: body.childElementCount })),
      );
      expect(shown).toEqual(texts().map((text) => ({ text, elements: 0 })));
    },
    120_000,
  );

  it.each(SIZES)(
    "are text in a contact's details and in the list of contacts, %s",
    async (_, size) => {
      await visit.page.setViewportSize(size);
      const contacts = world.dashboard.get(ContactsService);
      const attributes = Object.fromEntries(
        texts().map((text, n) => [cut(`${n} ${text}`, 100), cut(text, 500)]),
      );
      const made = [];
      for (const name of HOSTILE_NAMES) {
        const one = await conversation(name);
        const { updatedAt } = await contacts.getDetail(workspace.id, one.contactId, SYSTEM);
        const change = { updatedAt, attributes, phone: cut(texts()[0]!, 50) };
        await contacts.update(workspace.id, one.contactId, change, SYSTEM);
        made.push(one);
      }
      await open('contacts');
      await visit.page.getByRole('row').nth(HOSTILE_NAMES.length).waitFor();
      await expectText(visit);
      for (const { id, contactId } of made.slice(0, 3)) {
        await open(`contacts/${contactId}`);
        await visit.text(texts()[0]!).first().waitFor();
        await expectText(visit);
        await open(`inbox/${id}?view=all`);
        await visit.button('Customer').click();
        await visit.text(texts()[0]!).first().waitFor();
        await rest();
        await expectText(visit);
        await visit.page.keyboard.press('Escape');
      }
    },
    120_000,
  );

  it.each(SIZES)(
    'are text in saved replies, %s',
    async (_, size) => {
      await visit.page.setViewportSize(size);
      const replies = world.dashboard.get(SavedRepliesService);
      // What looks like a variable is refused when it is written.
      for (const [n, text] of texts()
        .filter((one) => !one.includes('{{'))
        .entries())
        await replies.create(workspace.id, { name: cut(`${n} ${text}`, 80), body: text }, SYSTEM);
      await open('settings/saved-replies');
      await visit
        .text(/^0 <script>/)
        .first()
        .waitFor();
      await expectText(visit);
      const made = await conversation('Ada');
      await open(`inbox/${made.id}?view=all`);
      const field = visit.page.locator('textarea:not([aria-hidden])');
      await field.fill('/0');
      const option = visit.page.getByRole('option').filter({ hasText: '<script>' });
      await option.waitFor();
      await expectText(visit);
      await option.click();
      expect(await field.inputValue()).toBe(texts()[0]);
    },
    120_000,
  );

  it('are one plain line in notifications, and not in the title of the tab', async () => {
    await visit.context.addInitScript(RECORD);
    await open('inbox?view=all');
    const shown = () =>
      visit.page.evaluate(() => (window as unknown as { shown: { title: string; body: string }[] }).shown);
    for (const [n, name] of HOSTILE_NAMES.entries()) {
      await conversation(name, texts()[n + 9]);
      await waitFor('the notification', async () => (await shown()).length === n + 1);
    }
    for (const { title, body } of await shown()) {
      expect([...title].length).toBeLessThanOrEqual(80);
      expect(title).toMatch(/[\p{L}\p{N}]/u);
      expect(`${title}${body}`).not.toMatch(CONTROLS);
    }
    expect(await visit.page.title()).toBe(`(${HOSTILE_NAMES.length}) Inbox · Messaging`);
    const icon = await visit.page.locator('link[rel=icon]').getAttribute('href');
    expect(icon).toMatch(/^(\/|data:image\/svg)/);
  }, 120_000);

  it.each(SIZES)(
    'are text in the names of who looks and types, %s',
    async (_, size) => {
      await visit.page.setViewportSize(size);
      const made = await conversation('Ada');
      const other = await world.enter(workspace, 'AGENT');
      try {
        for (const name of HOSTILE_NAMES.filter((one) => /[\p{L}\p{N}]/u.test(one)).slice(0, 4)) {
          await world.dashboard.get(AgentsService).update(workspace.id, other.agent.id, { name }, SYSTEM);
          await open(`inbox/${made.id}?view=all`);
          await other.page.goto(`/w/${workspace.slug}/inbox/${made.id}?view=all`);
          await waitFor('the word of who types', async () => {
            await other.field('Reply').pressSequentially('on ', { delay: 20 });
            return visit.page.getByRole('status').getByText('is typing a reply…').first().isVisible();
          });
          await expectText(visit);
          await other.field('Reply').fill('');
        }
        expect(other.errors).toEqual([]);
      } finally {
        await other.close();
      }
    },
    120_000,
  );

  it.each(SIZES)(
    "are text in the preview above the widget's button, %s",
    async (_, viewport) => {
      const pages = await ShopPages.start();
      const shopper = await world.open({ viewport });
      try {
        const { siteKey } = await TestWidget.connect(world.service, workspace, [pages.origin]);
        pages.show({ service: world.service.baseUrl, siteKey });
        const name = HOSTILE_NAMES[4]!;
        await world.dashboard
          .get(AgentsService)
          .update(workspace.id, visit.agent.id, { displayName: name }, SYSTEM);
        const visitor = new ChatPage(shopper.page);
        await visitor.page.goto(`${pages.origin}/shop`);
        await visitor.open();
        await visitor.send('Is green tea in stock?');
        await visitor.close();
        await open('inbox?view=all');
        await visit.page.getByRole('link').filter({ hasText: 'Is green tea' }).click();
        const preview = visitor.page.locator('chat-widget .preview');
        for (const text of texts()) {
          await visit.field('Reply').fill(text);
          await visit.field('Reply').press('Control+Enter');
          const shown = preview.locator('.text');
          await waitFor('the preview', async () => {
            if ((await shown.count()) === 0) return false;
            return (await shown.textContent())?.trim().slice(0, 5) === text.trim().slice(0, 5);
          });
          expect(await shown.evaluate((element) => element.childElementCount)).toBe(0);
          expect(await preview.locator('bdi').textContent()).toBe(name);
          const box = (await preview.boundingBox())!;
          expect(box.x).toBeGreaterThanOrEqual(0);
          expect(box.y).toBeGreaterThanOrEqual(0);
          expect(box.x + box.width).toBeLessThanOrEqual(viewport.width);
          expect(box.height).toBeLessThan(200);
        }
        expect(await shopper.page.evaluate(() => 'owned' in window)).toBe(false);
        expect(shopper.errors).toEqual([]);
      } finally {
        await shopper.close();
        await pages.stop();
      }
    },
    180_000,
  );
});
