import { DashboardInBrowser, DashboardPage } from '../../browser/dashboard-in-browser';
import { START_TIMEOUT_MS } from '../../browser/live-chat';
import { PHONE } from '../../browser/phone';
import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { waitFor } from '../../support/wait';
import { HOSTILE_NAMES, hostileTexts } from './hostile-texts';
import { Trap } from './trap';

/** Matches a character that leaves a mark on the screen: some letters and symbols do not. */
const VISIBLE = /(?![\u115F\u1160\u2800\u3164\uFFA0])[\p{L}\p{N}\p{P}\p{S}]/u;

/** Attacks on agents by what customers write: whatever it is, it is text, and stays in its place. */
describe('what customers write, in the browser of an agent', () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let visit: DashboardPage;
  let trap: Trap;
  const strangers: string[] = [];
  const dialogs: string[] = [];

  beforeAll(async () => {
    trap = await Trap.start();
    world = await DashboardInBrowser.start();
    workspace = await world.service.make.workspace();
    visit = await world.enter(workspace, 'AGENT');
    visit.context.on('request', (request) => {
      const { origin } = new URL(request.url());
      if (origin !== world.dashboard.baseUrl) strangers.push(request.url());
    });
    visit.page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
  }, START_TIMEOUT_MS);
  afterEach(async () => {
    expect(await visit.page.evaluate(() => 'owned' in window)).toBe(false);
    // A refusal of the page's policy would be among the errors: then something tried to load.
    expect({ asked: trap.asked, strangers, dialogs, errors: visit.errors }).toEqual({
      asked: [],
      strangers: [],
      dialogs: [],
      errors: [],
    });
  });

  /** Makes a conversation with a contact who has this name. */
  async function conversationOf(name: string) {
    const { make } = world.service;
    const { id: contactId } = await make.contact(workspace, { name });
    await world.service.query('UPDATE contacts SET avatar_url = $3 WHERE tenant_id = $1 AND id = $2', [
      workspace.id,
      contactId,
      `${trap.url}/avatar.png`,
    ]);
    return make.conversation(workspace, { contactId, channel: 'TELEGRAM' });
  }
  const open = async (path: string) => {
    await visit.page.goto(`/w/${workspace.slug}/inbox${path}`);
    await visit.page.locator('[data-conversation]').first().waitFor({ state: 'attached' });
    await waitFor('nothing to load', () =>
      visit.page.evaluate(() => document.querySelector('[aria-busy="true"]') === null),
    );
  };
  /** Returns by how many pixels the page and its parts are wider than their place. */
  const excess = () =>
    visit.page.$$eval('html, main, [role=region], section, header, form', (parts) =>
      parts.map((part) => part.scrollWidth - part.clientWidth).filter((pixels) => pixels > 0),
    );

  it.each([
    ['at a desk', { width: 1280, height: 900 }],
    ['on a phone', PHONE.viewport],
  ])(
    'is text in the list and in the conversation, %s',
    async (_, size) => {
      await visit.page.setViewportSize(size);
      const texts = hostileTexts(trap.url);
      const { make } = world.service;
      const conversation = await conversationOf(HOSTILE_NAMES[0]!);
      for (const text of texts) await make.received(workspace, conversation, text);
      for (const text of texts) {
        const other = await conversationOf('Ada');
        await make.received(workspace, other, text);
      }
      await open('?view=all');
      expect(await visit.page.locator('[data-conversation] script, [data-conversation] img').count()).toBe(0);
      expect(await excess()).toEqual([]);
      const heights = await visit.page.$$eval('[data-conversation]', (rows) =>
        rows.map((row) => row.clientHeight),
      );
      // Some letters of other scripts are higher by a pixel or two.
      expect(Math.max(...heights) - Math.min(...heights)).toBeLessThanOrEqual(4);
      await open(`/${conversation.id}?view=all`);
      await visit.page.locator('article').first().waitFor({ state: 'attached' });
      expect(await excess()).toEqual([]);
      const shown = await visit.page.$$eval('article > p', (bodies) =>
        bodies.map((body) => ({ text: body.textContent, elements: body.childElementCount })),
      );
      expect(shown).toEqual(texts.map((text) => ({ text, elements: 0 })));
      expect(await visit.page.title()).toMatch(/Inbox · Messaging$/);
    },
    120_000,
  );

  it('covers nothing around it', async () => {
    const conversation = await conversationOf('Ada');
    await world.service.make.received(workspace, conversation, 'Above.');
    for (const text of hostileTexts(trap.url).filter((one) => one.length < 2_000))
      await world.service.make.received(workspace, conversation, text);
    await open(`/${conversation.id}?view=all`);
    const articles = visit.page.locator('article');
    await articles.first().waitFor({ state: 'attached' });
    const spilling = await articles.evaluateAll((all) =>
      all.flatMap((article, index) => {
        const [body, meta] = [article.querySelector('p')!, article.querySelector('time')!];
        meta.scrollIntoView({ block: 'center' });
        const place = meta.getBoundingClientRect();
        const top = document.elementFromPoint(place.x + place.width / 2, place.y + place.height / 2);
        const isClipped = getComputedStyle(body).overflow === 'hidden';
        return isClipped && (top === meta || meta.contains(top)) ? [] : [index];
      }),
    );
    expect(spilling).toEqual([]);
  }, 60_000);

  it.each<[number, string]>(HOSTILE_NAMES.map((name, index) => [index, name]))(
    'says who wrote, for name %i',
    async (_, name) => {
      const conversation = await conversationOf(name);
      await world.service.make.received(workspace, conversation, 'Who am I?');
      for (const size of [{ width: 1280, height: 900 }, PHONE.viewport]) {
        await visit.page.setViewportSize(size);
        await open(`/${conversation.id}?view=all`);
        await visit.page.locator('article').first().waitFor({ state: 'attached' });
        expect(await excess()).toEqual([]);
        const article = visit.page.locator('article').first();
        const [sender, time] = [
          await article.locator('bdi').boundingBox(),
          await article.locator('time').boundingBox(),
        ];
        // Something is there to be read, and it ends before the time begins.
        expect(sender!.width).toBeGreaterThan(8);
        expect(time!.x >= sender!.x + sender!.width || time!.y >= sender!.y + sender!.height).toBe(true);
        expect(await article.locator('time').innerText()).toMatch(/^\d\d:\d\d$/);
        expect(sender!.height).toBeLessThan(40);
        expect(await article.locator('bdi').innerText()).toMatch(VISIBLE);
      }
    },
  );
});
