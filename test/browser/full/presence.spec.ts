import { mkdirSync } from 'node:fs';
import { BrowserContextOptions } from 'playwright-core';
import { SYSTEM } from '../../../src/access/principal';
import { ConversationEntity } from '../../../src/conversations/conversation.entity';
import { AgentsService } from '../../../src/workspaces/agents.service';
import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { TestDashboard } from '../../support/test-dashboard';
import { TestWidget } from '../../support/widget';
import { accessibilityFaults, accessibilityFaultsOf } from '../accessibility';
import { ChatPage } from '../chat-page';
import { DashboardInBrowser, DashboardPage } from '../dashboard-in-browser';
import { PHONE } from '../phone';
import { ShopPages } from '../shop-pages';

/** Folder for pictures to look at; none are taken without it. */
const { PICTURES } = process.env;

/** Tests of what agents see of each other in the inbox. Each has a process of the dashboard. */
describe('two agents in one inbox', () => {
  let world: DashboardInBrowser;
  let other: TestDashboard;
  let workspace: WorkspaceEntity;
  let conversation: Pick<ConversationEntity, 'id'>;
  let ben: DashboardPage;
  let lin: DashboardPage;

  beforeAll(async () => {
    world = await DashboardInBrowser.start();
    other = await TestDashboard.create(world.service.stores);
    workspace = await world.service.make.workspace();
    const [bens, lins] = [
      await world.enter(workspace, 'AGENT'),
      await world.enter(workspace, 'AGENT', { dashboard: other }),
    ];
    const agents = world.service.app.get(AgentsService);
    await agents.update(workspace.id, bens.agent.id, { name: 'Ben' }, SYSTEM);
    await agents.update(workspace.id, lins.agent.id, { name: 'Lin', displayName: 'Lin of Acme' }, SYSTEM);
    [ben, lin] = [bens, lins];
  }, 120_000);
  beforeEach(async () => {
    conversation = await world.service.make.conversation(workspace);
    await world.service.make.received(workspace, conversation, 'Where is my parcel?');
  });

  const enter = async (visit: DashboardPage, path = `/${conversation.id}`) => {
    await visit.page.goto(`/w/${workspace.slug}/inbox${path}?view=all`);
    await visit.comeToRest();
  };
  const line = (visit: DashboardPage) => visit.page.getByRole('status');
  const reply = (visit: DashboardPage) => visit.field('Reply');
  const picture = async (visit: DashboardPage, name: string) => {
    if (!PICTURES) return;
    mkdirSync(PICTURES, { recursive: true });
    await visit.page.screenshot({ path: `${PICTURES}/${name}.png`, animations: 'disabled' });
  };

  it('see who looks and who writes, in the conversation and in the list, and its end at once', async () => {
    await enter(lin);
    await enter(ben);
    await line(lin).getByText('Ben is looking').waitFor();
    await line(ben).getByText('Lin is looking').waitFor();
    await lin.page.getByRole('img', { name: 'Ben is looking' }).waitFor();
    await reply(ben).pressSequentially('It is on');
    await line(lin).getByText('Ben is typing a reply…').waitFor();
    await lin.page.getByRole('img', { name: 'Ben is typing a reply…' }).waitFor();
    await picture(lin, 'presence-typing');
    expect(await accessibilityFaultsOf(lin.page, 'main')).toEqual([]);
    await reply(ben).press('Control+Enter');
    await line(lin).getByText('Ben is looking').waitFor();
    // The list alone shows it, too.
    await enter(lin, '');
    await lin.page.getByRole('img', { name: 'Ben is looking' }).waitFor();
    await ben.page.goto('about:blank');
    await lin.page
      .getByRole('img', { name: 'Ben is looking' })
      .waitFor({ state: 'detached', timeout: 3_000 });
    expect([...ben.errors, ...lin.errors]).toEqual([]);
  }, 120_000);

  it('are asked before they send what a colleague has answered meanwhile', async () => {
    await enter(lin);
    await enter(ben);
    await reply(lin).pressSequentially('It left yesterday.');
    await reply(ben).fill('It comes tomorrow.');
    await reply(ben).press('Control+Enter');
    await lin.page.getByRole('article').filter({ hasText: 'It comes tomorrow.' }).waitFor();
    await reply(lin).press('Control+Enter');
    const asked = lin.page.getByRole('alert').getByText('Ben replied while you were writing. Send anyway?');
    await asked.waitFor();
    await picture(lin, 'presence-asks');
    expect(await accessibilityFaultsOf(lin.page, 'main')).toEqual([]);
    // It can be taken back, and asks no more once the colleague's reply is known.
    await lin.button('Edit').click();
    expect(await reply(lin).inputValue()).toBe('It left yesterday.');
    await reply(lin).press('Control+Enter');
    await ben.page.getByRole('article').filter({ hasText: 'It left yesterday.' }).waitFor();
    expect(await asked.count()).toBe(0);
  }, 120_000);

  it('are not both asked when they send at the same moment, and send anyway by a key', async () => {
    await enter(lin);
    await enter(ben);
    const [first, second] = [ben, lin];
    await reply(first).fill('From Ben.');
    await reply(second).fill('From Lin.');
    await Promise.all([first, second].map((visit) => reply(visit).press('Control+Enter')));
    const asks = (visit: DashboardPage) => visit.button('Send anyway');
    await Promise.race([asks(first).waitFor(), asks(second).waitFor()]);
    expect((await asks(first).count()) + (await asks(second).count())).toBe(1);
    const loser = (await asks(first).count()) ? first : second;
    await asks(loser).and(loser.page.locator(':focus')).waitFor();
    await loser.page.keyboard.press('Enter');
    for (const visit of [ben, lin])
      for (const text of ['From Ben.', 'From Lin.'])
        await visit.page.getByRole('article').filter({ hasText: text }).waitFor();
    await asks(loser).waitFor({ state: 'detached' });
    expect([...ben.errors, ...lin.errors]).toEqual([]);
  }, 120_000);

  describe('and a visitor of the widget', () => {
    let pages: ShopPages;
    let visits: DashboardPage;
    let visitor: ChatPage;

    beforeAll(async () => {
      pages = await ShopPages.start();
      const { siteKey } = await TestWidget.connect(world.service, workspace, [pages.origin]);
      pages.show({ service: world.service.baseUrl, siteKey });
    });
    afterEach(() => visits?.close());

    const visit = async (path = '/shop', options: BrowserContextOptions = {}) => {
      visits = await world.open(options);
      visitor = new ChatPage(visits.page);
      await visitor.page.goto(pages.origin + path);
    };
    const preview = () => visitor.page.locator('chat-widget .preview');
    const takeUp = async (text: string) => {
      await enter(lin, '');
      await lin.page.getByRole('link').filter({ hasText: text }).click();
      await lin.page.getByRole('article').filter({ hasText: text }).waitFor();
    };
    const answer = async (text: string) => {
      await reply(lin).fill(text);
      await reply(lin).press('Control+Enter');
    };

    it('see each other online and typing', async () => {
      await enter(ben, '');
      await visit();
      await visitor.open();
      await visitor.send('Do you ship to Spain?');
      await visitor.panel.getByText('We are online').waitFor();
      await takeUp('Do you ship to Spain?');
      await line(lin).getByText('The visitor is online').waitFor();
      await visitor.composer.pressSequentially('I ask because');
      await line(lin).getByText('The visitor is typing…').waitFor();
      const signs = (by: DashboardPage) => by.page.getByRole('img', { name: 'The visitor is typing…' });
      await signs(lin)
        .or(lin.page.getByRole('img', { name: /typing/ }))
        .first()
        .waitFor();
      await picture(lin, 'visitor-typing');
      expect(await accessibilityFaultsOf(lin.page, 'main')).toEqual([]);
      await visitor.composer.fill('');
      await line(lin).getByText('The visitor is online').waitFor();

      await reply(lin).pressSequentially('Within three');
      await visitor.panel.getByText('Lin of Acme is typing…').waitFor();
      await picture(visits, 'agent-typing');
      expect(await accessibilityFaults(visitor)).toEqual([]);
      await reply(lin).fill('');
      await visitor.panel.getByText('Lin of Acme is typing…').waitFor({ state: 'detached', timeout: 4_000 });
      await answer('Within three days.');
      await visitor.message('Within three days.').waitFor();
      await visits.page.goto('about:blank');
      await line(lin).getByText('The visitor is online').waitFor({ state: 'detached', timeout: 20_000 });
      expect([...visits.errors, ...lin.errors]).toEqual([]);
    }, 120_000);

    it('are shown an answer above the closed chat, once', async () => {
      await visit();
      await visitor.open();
      await visitor.send('Is green tea in stock?');
      await takeUp('Is green tea in stock?');
      await visitor.close();
      await answer('Yes, it is. We pick it by hand in spring, and dry it on the same day.');
      await preview().getByText('Yes, it is.').waitFor();
      await picture(visits, 'preview');
      expect(await accessibilityFaults(visitor)).toEqual([]);
      // It stays with the visitor until it is dismissed, and then does not come again.
      await visitor.page.reload();
      await preview().getByText('Yes, it is.').waitFor();
      await preview().getByRole('button', { name: 'Dismiss' }).click();
      await preview().waitFor({ state: 'detached' });
      await visitor.page.reload();
      await visitor.page.locator('chat-widget .badge').waitFor();
      expect(await preview().count()).toBe(0);

      await answer('Shall I put some aside?');
      await preview().getByText('Shall I put some aside?').click();
      await visitor.message('Shall I put some aside?').waitFor();
      expect(await preview().count()).toBe(0);
      await visitor.close();
      expect(await preview().count()).toBe(0);
      expect(visits.errors).toEqual([]);
    }, 120_000);

    it.each([
      ['/german', 'dark'],
      ['/arabic', 'light'],
    ] as const)(
      'are shown it on %s in the %s',
      async (path, colorScheme) => {
        await visit(path, { colorScheme, ...(path === '/arabic' && PHONE) });
        await visitor.page.locator('chat-widget button.launcher').click();
        await visitor.page.locator('chat-widget textarea').fill(`From ${path}`);
        await visitor.page.locator('chat-widget textarea').press('Enter');
        await visitor.page.locator('chat-widget [data-state=sent]').waitFor();
        await takeUp(`From ${path}`);
        await reply(lin).pressSequentially('Hm');
        await visitor.page.locator('chat-widget .typing').waitFor();
        await picture(visits, `typing-${path.slice(1)}`);
        await visitor.page.locator('chat-widget .header .close').click();
        await answer('An answer of some length, so that one sees how it is broken.');
        await preview().waitFor();
        await picture(visits, `preview-${path.slice(1)}`);
        expect(await accessibilityFaults(visitor)).toEqual([]);
      },
      60_000,
    );
  });
});
