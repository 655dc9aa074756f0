import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { letTimePass, waitFor } from '../../support/wait';
import { accessibilityFaultsOf } from '../accessibility';
import { AgentPage, DashboardInBrowser } from '../dashboard-in-browser';
import { withDashboard } from '../with-dashboard';

describe('what is unread in the inbox', () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let visit: AgentPage;

  withDashboard(async (started) => {
    world = started;
    workspace = await world.service.make.workspace();
    visit = await world.enter(workspace, 'AGENT');
  });

  const conversation = (name: string, text?: string) => world.service.make.begun(workspace, name, text);
  const row = (name: string) => visit.page.locator('[data-conversation]').filter({ hasText: name });
  const unread = (name: string) => row(name).getByRole('img', { name: 'Unread' });
  const title = () => visit.page.title();
  const mark = () =>
    visit.page.evaluate(() => document.querySelector<HTMLLinkElement>('link[rel=icon]')!.href);

  it('is bold until it is opened, and the tab counts it', async () => {
    await conversation('Ada');
    const bea = await conversation('Bea');
    await visit.page.goto(`/w/${workspace.slug}/inbox?view=nobody`);
    await unread('Ada').waitFor();
    await unread('Bea').waitFor();
    await waitFor('the title', async () => (await title()) === '(2) Inbox · Messaging');
    expect(await mark()).toContain('mark-unread');
    for (const colorScheme of ['light', 'dark'] as const) {
      await visit.page.emulateMedia({ colorScheme });
      expect(await accessibilityFaultsOf(visit.page, 'main')).toEqual([]);
    }

    await visit.page.keyboard.press('j');
    await visit.page.keyboard.press('Enter');
    await unread('Bea').waitFor({ state: 'detached' });
    await waitFor('the title', async () => (await title()) === '(1) Inbox · Messaging');
    expect(await unread('Ada').count()).toBe(1);

    // What comes while the conversation is open and seen is read, also after a reload.
    await world.service.make.received(workspace, bea, 'Hello?');
    await visit.page.locator('article').filter({ hasText: 'Hello?' }).waitFor();
    await row('Hello?').waitFor();
    await unread('Bea').waitFor({ state: 'detached' });
    await visit.page.goto(`/w/${workspace.slug}/inbox?view=nobody`);
    await unread('Ada').waitFor();
    expect(await unread('Bea').count()).toBe(0);
  });

  it('is also what one marks by U, until it is opened again', async () => {
    const { id } = await conversation('Ada');
    await visit.page.goto(`/w/${workspace.slug}/inbox/${id}?view=nobody`);
    await visit.page.locator('article').first().waitFor();
    await unread('Ada').waitFor({ state: 'detached' });
    await visit.page.keyboard.press('u');
    await unread('Ada').waitFor();
    await visit.button('Mark as read').waitFor();
    await visit.page.keyboard.press('u');
    await unread('Ada').waitFor({ state: 'detached' });
    await visit.button('Mark as unread').click();
    await unread('Ada').waitFor();
    await waitFor('the title', async () => (await title()).startsWith('(1) '));

    await visit.page.reload();
    await visit.page.locator('article').first().waitFor();
    await unread('Ada').waitFor({ state: 'detached' });
    await waitFor('the title', async () => (await title()) === 'Inbox · Messaging');
    expect(await mark()).not.toContain('unread');
  });

  it('is read, and marked as unread, on another device of the agent at once', async () => {
    await conversation('Ada');
    const device = await world.open();
    await device.context.addCookies(await visit.context.cookies());
    const shown = device.page
      .locator('[data-conversation]')
      .filter({ hasText: 'Ada' })
      .getByRole('img', { name: 'Unread' });
    for (const { page } of [visit, device]) await page.goto(`/w/${workspace.slug}/inbox?view=nobody`);
    await unread('Ada').waitFor();
    await shown.waitFor();
    // By now nobody reads what was missed before the streams began.
    await letTimePass(7_000);
    await row('Ada').click();
    await shown.waitFor({ state: 'detached', timeout: 3_000 });
    await waitFor('the title', async () => (await device.page.title()) === 'Inbox · Messaging', 5_000);
    await visit.page.keyboard.press('u');
    await shown.waitFor({ timeout: 3_000 });
    await waitFor('the title', async () => (await device.page.title()).startsWith('(1) '), 5_000);
  });

  it('is read by its agent who has it open when it is handed over, also without a message', async () => {
    const { make } = world.service;
    const isAllRead = () => waitFor('the title', async () => (await title()) === 'Inbox · Messaging');
    const expectReadWhenHandedOver = async (name: string, { id }: { id: string }) => {
      await visit.page.goto(`/w/${workspace.slug}/inbox/${id}?view=all`);
      await row(name).waitFor();
      await unread(name).waitFor({ state: 'detached' });
      await isAllRead();
      for (const times of [1, 2]) {
        const marked = visit.page.waitForResponse(
          (response) => response.request().method() === 'PUT' && response.url().endsWith(`${id}/read-mark`),
        );
        await make.updateConversation(workspace, { id }, { assignedAgentId: visit.agent.id });
        await marked;
        await unread(name).waitFor({ state: 'detached' });
        await visit.button('Mark as unread').waitFor();
        await isAllRead();
        if (times === 2) return;
        await make.updateConversation(workspace, { id }, { assignedAgentId: null });
        await row(name).getByText('You', { exact: true }).waitFor({ state: 'detached' });
      }
    };
    const { id: contactId } = await make.contact(workspace, { name: 'Ada' });
    await expectReadWhenHandedOver(
      'Ada',
      await make.conversation(workspace, { contactId, channel: 'TELEGRAM' }),
    );
    await expectReadWhenHandedOver('Bea', await conversation('Bea'));
  });

  it('is not read while its newest message is out of sight', async () => {
    const made = await conversation('Ada');
    for (let n = 0; n < 40; n += 1) await world.service.make.received(workspace, made, `Message ${n}`);
    await visit.page.goto(`/w/${workspace.slug}/inbox/${made.id}?view=nobody`);
    await unread('Ada').waitFor({ state: 'detached' });
    const messages = visit.page.getByRole('region', { name: 'Messages' });
    await messages.evaluate((element) => (element.scrollTop = -600));
    await world.service.make.received(workspace, made, 'Out of sight');
    await unread('Ada').waitFor();
    await messages.evaluate((element) => (element.scrollTop = 0));
    await unread('Ada').waitFor({ state: 'detached' });
  });
});
