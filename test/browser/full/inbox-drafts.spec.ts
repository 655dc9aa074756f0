import { AgentEntity } from '../../../src/workspaces/agent.entity';
import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { Browser } from '../../support/test-dashboard';
import { waitFor } from '../../support/wait';
import { DashboardInBrowser, DashboardPage } from '../dashboard-in-browser';
import { withDashboard } from '../with-dashboard';

describe('drafts in the inbox', () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let agent: AgentEntity;
  let devices: DashboardPage[];

  withDashboard(async (started) => {
    world = started;
    workspace = await world.service.make.workspace();
    agent = await world.service.make.agent(workspace, { role: 'AGENT' });
    const login = await world.dashboard.logIn(agent);
    devices = [await device(login), await device(login)];
  });

  /** Opens another browser of the same person. */
  async function device(login: Browser): Promise<DashboardPage> {
    const opened = await world.open();
    await opened.adopt(login);
    return opened;
  }
  async function conversation() {
    const made = await world.service.make.conversation(workspace);
    await world.service.make.received(workspace, made, 'Where is it?');
    return made;
  }
  const open = async ({ page }: DashboardPage, { id }: { id: string }) => {
    await page.goto(`/w/${workspace.slug}/inbox/${id}?view=all`);
    await page.locator('article').first().waitFor();
  };
  const saved = async () => {
    const rows = await world.service.query<{ body: string }>('SELECT body FROM drafts WHERE tenant_id = $1', [
      workspace.id,
    ]);
    return rows.map(({ body }) => body);
  };
  const waitForDraft = (text: string) => waitFor('a saved draft', async () => (await saved()).includes(text));
  const shows = (one: DashboardPage, text: string) =>
    waitFor('a draft to be shown', async () => (await one.field('Reply').inputValue()) === text);

  it('go on at another device, with a mark in the list, until they are sent', async () => {
    const [desk, phone] = devices as [DashboardPage, DashboardPage];
    const made = await conversation();
    await open(desk, made);
    await desk.field('Reply').fill('Dear Ada,');
    await desk.page.locator('[data-conversation]').getByText('Draft').waitFor();
    await waitForDraft('Dear Ada,');
    await open(phone, made);
    await shows(phone, 'Dear Ada,');
    await phone.page.locator('[data-conversation]').getByText('Draft').waitFor();
    await phone.field('Reply').fill('Dear Ada, it is on its way.');
    await waitForDraft('Dear Ada, it is on its way.');
    await desk.page.reload();
    await shows(desk, 'Dear Ada, it is on its way.');

    await desk.field('Reply').press('Control+Enter');
    await desk.page.locator('article[data-from=agent]:not([data-unsent])').waitFor();
    await desk.page.locator('[data-conversation]').getByText('Draft').waitFor({ state: 'detached' });
    await waitFor('no draft', async () => (await saved()).length === 0);
    await phone.page.reload();
    await phone.page.locator('article[data-from=agent]').waitFor();
    await shows(phone, '');
  });

  it('are not what only looks for a saved reply, which is no typing either', async () => {
    const [desk] = devices as [DashboardPage, DashboardPage];
    await open(desk, await conversation());
    const acts: unknown[] = [];
    desk.page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/inbox/presence'))
        acts.push((request.postDataJSON() as { act: string }).act);
    });
    const put = desk.page.waitForResponse((answer) => answer.request().method() === 'PUT');
    await desk.field('Reply').pressSequentially('/');
    await put;
    expect(await saved()).toEqual([]);
    expect(await desk.field('Reply').inputValue()).toBe('/');
    expect(acts).not.toContain('REPLYING');
    const mark = desk.page.locator('[data-conversation]').getByText('Draft');
    expect(await mark.count()).toBe(0);
    await desk.field('Reply').fill('Dear Ada,');
    await waitForDraft('Dear Ada,');
    await mark.waitFor();
    expect(acts).toContain('REPLYING');
  });

  it('are saved when one leaves the conversation at once', async () => {
    const [desk] = devices as [DashboardPage];
    const [first, second] = [await conversation(), await conversation()];
    await open(desk, first);
    await desk.field('Reply').fill('In a hurry');
    await desk.page.locator(`[data-conversation="${second.id}"]`).click();
    await waitForDraft('In a hurry');
    await desk.field('Reply').fill('Gone');
    await desk.page.goto('about:blank');
    await waitForDraft('Gone');
  });

  it('of the device that changed them last count, also after it was offline', async () => {
    const [desk, phone] = devices as [DashboardPage, DashboardPage];
    const made = await conversation();
    await open(desk, made);
    await open(phone, made);
    await desk.page.route('**/draft', (route) => route.abort('internetdisconnected'));
    await desk.field('Reply').fill('Older, offline');
    await phone.field('Reply').fill('Newer');
    await waitForDraft('Newer');
    await desk.page.unroute('**/draft');
    await desk.page.reload();
    await shows(desk, 'Newer');

    await phone.page.route('**/draft', (route) => route.abort('internetdisconnected'));
    await phone.field('Reply').fill('The newest, offline');
    await phone.page.waitForTimeout(1_200);
    await phone.page.unroute('**/draft');
    await phone.page.reload();
    await shows(phone, 'The newest, offline');
    await waitForDraft('The newest, offline');
  });
});
