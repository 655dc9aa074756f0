import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { letTimePass, waitFor } from '../../support/wait';
import { accessibilityFaultsOf } from '../accessibility';
import { AgentPage, DashboardInBrowser } from '../dashboard-in-browser';
import { withDashboard } from '../with-dashboard';

interface Shown {
  title: string;
  body: string;
}

/** Takes the place of the browser's notifications, which no test can see. */
const RECORD = `
  window.shown = [];
  window.Notification = class {
    static permission = 'default';
    static requestPermission() { this.permission = 'granted'; return Promise.resolve('granted'); }
    constructor(title, { body }) { window.shown.push({ title, body }); window.last = this; }
    close() {}
  };
  window.tones = 0;
  const start = AudioScheduledSourceNode.prototype.start;
  AudioScheduledSourceNode.prototype.start = function (...at) { window.tones += 1; start.apply(this, at); };`;

describe('what the inbox tells of new messages', () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let visit: AgentPage;

  withDashboard(async (started) => {
    world = started;
    workspace = await world.service.make.workspace();
    visit = await world.enter(workspace, 'AGENT');
    await visit.context.addInitScript(RECORD);
  });

  const conversation = (name: string, text?: string) => world.service.make.begun(workspace, name, text);
  const shown = (page = visit.page) => page.evaluate(() => (window as unknown as { shown: Shown[] }).shown);
  const tones = (page = visit.page) => page.evaluate(() => (window as unknown as { tones: number }).tones);
  const row = (text: string, page = visit.page) =>
    page.locator('[data-conversation]').filter({ hasText: text });
  const choose = async (name: string) => visit.page.getByRole('checkbox', { name }).click();
  const open = async (page = visit.page) => {
    await page.goto(`/w/${workspace.slug}/inbox?view=all`);
    await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
  };

  it('is nothing until one chooses it, by checkboxes that keys reach', async () => {
    await conversation('Ada');
    await open();
    await row('Ada').waitFor();
    await conversation('Bea');
    await row('Bea').waitFor();
    expect([await shown(), await tones()]).toEqual([[], 0]);

    await visit.button('Sound and notifications').focus();
    await visit.page.keyboard.press('Enter');
    await visit.page
      .getByRole('checkbox', { name: 'Plays a sound' })
      .and(visit.page.locator(':focus'))
      .waitFor();
    await visit.page.keyboard.press('Space');
    expect(await tones()).toBe(2);
    await choose('Shows a notification');
    await visit.page.getByRole('checkbox', { name: 'Shows the first words' }).waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await visit.page.emulateMedia({ colorScheme });
      expect(await accessibilityFaultsOf(visit.page, '[role=dialog]')).toEqual([]);
    }
    await visit.page.keyboard.press('Escape');
    await visit.dialog.waitFor({ state: 'detached' });
    await visit.button('Sound and notifications').and(visit.page.locator(':focus')).waitFor();

    await conversation('Cyd', 'Do you ship to Spain?');
    await waitFor('the notification', async () => (await shown()).length > 0);
    expect([await shown(), await tones()]).toEqual([[{ title: 'Cyd', body: 'New message' }], 4]);
    // A colleague's conversation is no news.
    const other = await world.service.make.agent(workspace);
    const theirs = await conversation('Dan');
    await waitFor('two', async () => (await shown()).length === 2);
    await world.service.make.updateConversation(workspace, theirs, { assignedAgentId: other.id });
    await world.service.make.received(workspace, theirs, 'Still there?');
    await row('Still there?').waitFor();
    await letTimePass(3_000);
    expect(await shown()).toHaveLength(2);
  });

  it('comes once for all tabs, with the first words if one wants them, and opens the conversation', async () => {
    await open();
    await visit.button('Sound and notifications').click();
    await choose('Shows a notification');
    await choose('Shows the first words in it');
    const second = await visit.context.newPage();
    await open(second);
    const ada = await conversation('Ada', 'Do you ship to Spain?');
    await row('Ada', second).waitFor();
    await waitFor('the notification', async () => (await shown()).length > 0);
    expect(await shown()).toEqual([{ title: 'Ada', body: 'Do you ship to Spain?' }]);
    expect(await shown(second)).toEqual([]);
    await visit.page.evaluate(() => (window as unknown as { last: { onclick(): void } }).last.onclick());
    await visit.page.waitForURL(`**/inbox/${ada.id}**`);

    // What one looks at needs no notification.
    await second.close();
    await visit.page.bringToFront();
    await visit.page.locator('article').first().waitFor();
    await world.service.make.received(workspace, ada, 'Hello?');
    await visit.page.locator('article').filter({ hasText: 'Hello?' }).waitFor();
    await letTimePass(3_000);
    expect(await shown()).toHaveLength(1);

    await conversation('Bea', '[image] Is it this one?');
    await waitFor('the notification of a picture', async () => (await shown()).length > 1);
    expect((await shown())[1]).toEqual({ title: 'Bea', body: 'Picture: Is it this one?' });
  });

  it('comes with what a colleague hands over, and with the end of a snooze', async () => {
    const { make } = world.service;
    const { agent } = visit;
    const [ada, bea, cyd] = [await conversation('Ada'), await conversation('Bea'), await conversation('Cyd')];
    const snoozed = { status: 'SNOOZED', assignedAgentId: agent.id } as const;
    await make.updateConversation(workspace, bea, snoozed, { type: 'agent', id: agent.id });
    await open();
    await visit.button('Sound and notifications').click();
    await choose('Plays a sound');
    await choose('Shows a notification');
    await visit.page.keyboard.press('Escape');
    await visit.dialog.waitFor({ state: 'detached' });
    await row('Cyd').click();
    await visit.page.locator('article').first().waitFor();
    // By now every process knows that an inbox is open.
    await letTimePass(7_000);
    await make.updateConversation(workspace, ada, { assignedAgentId: agent.id });
    await waitFor('the notification', async () => (await shown()).length > 0);
    await world.service.query(`UPDATE conversations SET snoozed_until = now() WHERE id = $1`, [bea.id]);
    await waitFor('the end of the snooze', async () => (await shown()).length > 1);
    const waits = (title: string) => ({ title, body: 'Waits for you' });
    expect([await shown(), await tones()]).toEqual([[waits('Ada'), waits('Bea')], 6]);
    const unread = (name: string) => row(name).getByRole('img', { name: 'Unread' });
    for (const name of ['Ada', 'Bea']) await unread(name).waitFor();

    // What one looks at needs no notification, and is read at once.
    await unread('Cyd').waitFor({ state: 'detached' });
    await make.updateConversation(workspace, cyd, { assignedAgentId: agent.id });
    await visit.page.getByText(/^Assigned to you/).waitFor();
    await letTimePass(3_000);
    expect(await shown()).toHaveLength(2);
    expect(await unread('Cyd').count()).toBe(0);
  });
});
