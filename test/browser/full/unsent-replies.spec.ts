import type { Page } from 'playwright-core';
import { SYSTEM } from '../../../src/access/principal';
import { MessagesService } from '../../../src/messages/messages.service';
import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { waitFor } from '../../support/wait';
import { AgentPage, DashboardInBrowser } from '../dashboard-in-browser';
import { withDashboard } from '../with-dashboard';

describe('replies that were not sent', () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let visit: AgentPage;

  withDashboard(async (started) => {
    world = started;
    workspace = await world.service.make.workspace();
    visit = await world.enter(workspace, 'AGENT');
  });

  const open = async (page: Page, { id }: { id: string }) => {
    await page.goto(`/w/${workspace.slug}/inbox/${id}?view=all`);
    await page.locator('article').first().waitFor();
  };
  const row = (name: string) => visit.page.locator('[data-conversation]').filter({ hasText: name });
  const unsent = () => visit.page.locator('article[data-unsent]');
  const bodies = (conversation: { id: string }) => world.repliesIn(workspace, conversation);
  const setOffline = (isOffline: boolean) => visit.page.context().setOffline(isOffline);
  const write = async (text: string) => {
    await visit.field('Reply').fill(text);
    await visit.field('Reply').press('Control+Enter');
    await unsent().filter({ hasText: text }).getByText('Not sent').waitFor();
  };

  it('are marked in the list and go out once and in order, of two tabs and out of sight', async () => {
    const { make } = world.service;
    const ada = await make.begun(workspace, 'Ada', 'Where is it?');
    const ben = await make.begun(workspace, 'Ben', 'And mine?');
    const second = await visit.page.context().newPage();
    await open(second, ada);
    await open(visit.page, ada);
    await row('Ben').waitFor();
    await setOffline(true);
    await write('First');
    await write('Second');
    await row('Ada').getByText('Not sent').waitFor();
    await row('Ben').click();
    await unsent().first().waitFor({ state: 'detached' });

    await setOffline(false);
    await waitFor('both replies', async () => (await bodies(ada)).length === 2);
    await row('Ada').getByText('Not sent').waitFor({ state: 'detached' });
    expect(await bodies(ada)).toEqual(['First', 'Second']);
    expect(await bodies(ben)).toEqual([]);
    await second.close();
  });

  it('wait for the person when a colleague has answered since, after a reload as well', async () => {
    const { make } = world.service;
    const made = await make.begun(workspace, 'Ada', 'Where is it?');
    const colleague = await make.agent(workspace, { name: 'Bea Moore' });
    await open(visit.page, made);
    await setOffline(true);
    await write('On its way.');
    const answer = { body: 'Already done.', senderAgentId: colleague.id };
    await world.service.app.get(MessagesService).send(workspace.id, made.id, answer, SYSTEM);
    await setOffline(false);

    const asks = () => unsent().getByRole('button', { name: 'Send anyway' });
    await asks().waitFor();
    await visit.page.reload();
    await asks().waitFor();
    await row('Ada').getByText('Not sent').waitFor();
    expect(await bodies(made)).toEqual(['Already done.']);
    await asks().click();
    await unsent().waitFor({ state: 'detached' });
    expect(await bodies(made)).toEqual(['Already done.', 'On its way.']);
  });

  it('wait for the person a day after they were written, because the server has forgotten them', async () => {
    const made = await world.service.make.begun(workspace, 'Ada', 'Where is it?');
    await open(visit.page, made);
    await setOffline(true);
    await write('Yesterday');
    const dayMs = 24 * 60 * 60 * 1000;
    await visit.page.evaluate((ms) => {
      const name = Object.keys(localStorage).find((one) => one.startsWith('dashboard-reply:'))!;
      const kept = JSON.parse(localStorage.getItem(name)!) as { unsent: { writtenAt: number }[] };
      for (const message of kept.unsent) message.writtenAt -= ms;
      localStorage.setItem(name, JSON.stringify(kept));
      // The page reads it again, as after a change in another tab.
      window.dispatchEvent(new StorageEvent('storage', { key: null }));
    }, dayMs);
    await setOffline(false);
    await open(visit.page, made);
    await unsent().getByText('Not sent').waitFor();
    await row('Ada').getByText('Not sent').waitFor();
    expect(await bodies(made)).toEqual([]);
    await visit.button('Try again').click();
    await waitFor('the reply', async () => (await bodies(made)).length === 1);
  });

  it('tell when the conversation could not be closed after one that went out by itself', async () => {
    const made = await world.service.make.begun(workspace, 'Ada', 'Where is it?');
    await open(visit.page, made);
    await setOffline(true);
    await visit.field('Reply').fill('Done.');
    await visit.button('Send and close').click();
    await unsent().getByText('Not sent').waitFor();
    await visit.page.route(`**/conversations/${made.id}`, (route) =>
      route.request().method() === 'PATCH' ? route.fulfill({ status: 503 }) : route.continue(),
    );
    await setOffline(false);
    await visit.text('The reply was sent, but its conversation could not be closed.').waitFor();
    expect(await bodies(made)).toEqual(['Done.']);
  });
});
