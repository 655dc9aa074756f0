import { mkdirSync } from 'node:fs';
import { SYSTEM } from '../../../src/common/principal';
import { ConversationEntity } from '../../../src/conversations/conversation.entity';
import { AgentsService } from '../../../src/workspaces/agents.service';
import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { TestDashboard } from '../../support/test-dashboard';
import { accessibilityFaultsOf } from '../accessibility';
import { DashboardInBrowser, DashboardPage } from '../dashboard-in-browser';

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
    await agents.update(workspace.id, lins.agent.id, { name: 'Lin' }, SYSTEM);
    [ben, lin] = [bens, lins];
  }, 120_000);
  afterAll(async () => {
    await other?.close();
    await world?.stop();
  });
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
    const sign = lin.page.locator('nav ~ * a[aria-current=page]').getByRole('img', { name: /^Ben/ });
    await lin.page.getByRole('img', { name: 'Ben is looking' }).waitFor();
    await reply(ben).pressSequentially('It is on');
    await line(lin).getByText('Ben is typing a reply…').waitFor();
    await lin.page.getByRole('img', { name: 'Ben is typing a reply…' }).waitFor();
    expect(await sign.count()).toBeLessThanOrEqual(1);
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
});
