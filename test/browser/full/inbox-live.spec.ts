import { SYSTEM } from '../../../src/access/principal';
import { ContactsService } from '../../../src/contacts/contacts.service';
import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { Database } from '../../../src/database/database';
import { MessageStatusRepository } from '../../../src/messages/message-status.repository';
import { letTimePass, waitFor } from '../../support/wait';
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

  it("shows a contact's new name in the list and in its conversation at once", async () => {
    const page = await visit.context.newPage();
    const { make, app } = world.service;
    const { id: contactId, updatedAt } = await make.contact(workspace, { name: 'Ada' });
    const conversation = await make.conversation(workspace, { contactId });
    await make.received(workspace, conversation, 'I have married.');
    await page.goto(`/w/${workspace.slug}/inbox/${conversation.id}?view=all`);
    await page.getByText('Ada', { exact: true }).nth(1).waitFor();
    // By now nobody reads what was missed before the stream began.
    await letTimePass(7_000);
    const change = { name: 'Ada Lovelace', updatedAt: new Date(updatedAt) };
    await app.get(ContactsService, { strict: false }).update(workspace.id, contactId, change, SYSTEM);
    await page.getByText('Ada Lovelace', { exact: true }).nth(1).waitFor({ timeout: 3_000 });
    const former = page.getByText('Ada', { exact: true });
    await waitFor('the former name to go', async () => (await former.count()) === 0, 3_000);
    expect(visit.errors).toEqual([]);
  });

  it('shows what becomes of a message, and reads little while the stream lives', async () => {
    const page = await visit.context.newPage();
    const reads: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/conversations')) reads.push(request.url());
    });
    const { make, app } = world.service;
    await make.agent(workspace);
    const conversation = await make.conversation(workspace, { channel: 'WIDGET' });
    await page.goto(`/w/${workspace.slug}/inbox/${conversation.id}?view=all`);
    const { id: messageId } = await make.sent(workspace, conversation, 'On its way.');
    const article = page.locator('article').filter({ hasText: 'On its way.' });
    await article.waitFor();
    // It is not connected, so that the message fails. A receipt may come all the same.
    await article.getByText('Not delivered').waitFor();
    await letTimePass(7_000);
    const before = reads.length;
    await letTimePass(12_000);
    // One round of notices that may have been lost, but not a round every five seconds.
    expect(reads.length - before).toBeLessThanOrEqual(6);
    const key = { tenantId: workspace.id, conversationId: conversation.id, messageId };
    await app.get(Database, { strict: false }).transaction(async (tx) => {
      expect(
        await app.get(MessageStatusRepository, { strict: false }).advance(tx, key, 'READ'),
      ).not.toBeNull();
    });
    await article.getByText('Read', { exact: true }).waitFor({ timeout: 2_000 });
    expect(visit.errors).toEqual([]);
  }, 60_000);

  it('keeps its place while older messages are loaded and newer ones come, and reads the newest alone', async () => {
    const page = await visit.context.newPage();
    const { make } = world.service;
    const conversation = await make.conversation(workspace);
    for (let n = 0; n < 210; n += 1) await make.received(workspace, conversation, `Line ${n}.`);
    await page.goto(`/w/${workspace.slug}/inbox/${conversation.id}?view=all`);
    const line = (n: number) => page.locator('article').filter({ hasText: `Line ${n}.` });
    const topOf = async (n: number) => Math.round((await line(n).boundingBox())!.y);
    await line(209).waitFor();
    const scroller = page.getByRole('region', { name: 'Messages' });
    // The wheel scrolls, as an agent does.
    await scroller.hover();
    while ((await line(100).count()) === 0) await page.mouse.wheel(0, -400);
    await line(110).scrollIntoViewIfNeeded();
    const before = await topOf(110);
    const button = page.getByRole('button', { name: 'Older messages' });
    while ((await line(40).count()) === 0 && (await button.count()) > 0) await button.dispatchEvent('click');
    await line(40).waitFor({ state: 'attached' });
    expect(await topOf(110)).toBe(before);

    const reads: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/messages')) reads.push(new URL(request.url()).search);
    });
    await make.received(workspace, conversation, 'Line 210.');
    await line(210).waitFor({ state: 'attached' });
    expect(await topOf(110)).toBe(before);
    expect(reads.every((search) => !search.includes('cursor'))).toBe(true);
    expect(visit.errors).toEqual([]);
  }, 120_000);

  it('reads a bounded number of times while everything changes, and ends up right', async () => {
    const page = await visit.context.newPage();
    const reads: number[] = [];
    page.on('request', (request) => {
      if (/\/conversations/.test(request.url())) reads.push(performance.now());
    });
    await page.goto(`/w/${workspace.slug}/inbox?view=all`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await letTimePass(7_000);
    const { make } = world.service;
    const begin = performance.now();
    for (let n = 0; n < 100; n += 1) {
      const one = await make.conversation(workspace);
      await make.received(workspace, one, `Storm ${n}`);
    }
    await page.getByText('Storm 99').waitFor();
    const seconds = (performance.now() - begin) / 1_000;
    // At most three reads of the list a second, and one of its numbers and what is unread every two.
    expect(reads.filter((at) => at >= begin).length).toBeLessThanOrEqual(Math.ceil(seconds * 5) + 5);
    expect(visit.errors).toEqual([]);
  }, 60_000);
});
