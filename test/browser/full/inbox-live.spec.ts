import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { DashboardInBrowser, DashboardPage } from '../dashboard-in-browser';

/** Tests of what the inbox shows without a click. */
describe('an open inbox', () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let visit: DashboardPage;

  beforeAll(async () => {
    world = await DashboardInBrowser.start();
    workspace = await world.service.make.workspace();
    visit = await world.enter(workspace, 'AGENT');
  }, 120_000);
  afterAll(() => world?.stop());

  it('shows what customers write and colleagues do in each tab, over one stream', async () => {
    const streams: string[] = [];
    visit.context.on('request', (request) => {
      if (request.url().endsWith('/inbox/stream')) streams.push(request.url());
    });
    const conversation = await world.service.make.conversation(workspace);
    await world.service.make.received(workspace, conversation, 'Where is my parcel?');
    const tabs = [visit.page, await visit.context.newPage()];
    for (const tab of tabs) {
      // Nothing is read every few seconds.
      await tab.addInitScript('setInterval = () => 0');
      await tab.goto(`/w/${workspace.slug}/inbox/${conversation.id}?view=all`);
      await tab.getByText('Where is my parcel?').nth(1).waitFor();
    }
    await world.service.make.received(workspace, conversation, 'It should be here by now.');
    for (const tab of tabs) await tab.getByText('It should be here by now.').nth(1).waitFor();
    const other = await world.service.make.conversation(workspace);
    await world.service.make.received(workspace, other, 'Do you ship to Spain?');
    for (const tab of tabs) await tab.getByText('Do you ship to Spain?').waitFor();
    await world.service.make.updateConversation(workspace, other, { status: 'CLOSED' });
    for (const tab of tabs) await tab.getByText('Do you ship to Spain?').waitFor({ state: 'detached' });
    expect(streams).toHaveLength(1);

    // The other tab takes the stream over.
    await tabs.shift()!.close();
    await world.service.make.received(workspace, conversation, 'Ah, there it is.');
    for (const tab of tabs) await tab.getByText('Ah, there it is.').nth(1).waitFor();
    expect(streams).toHaveLength(2);
    expect(visit.errors).toEqual([]);
  }, 120_000);
});
