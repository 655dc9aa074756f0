import { SYSTEM } from '../../../src/access/principal';
import { AgentsService } from '../../../src/workspaces/agents.service';
import { UpdateAgent } from '../../../src/workspaces/agent.dto';
import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { AgentPage, DashboardInBrowser } from '../dashboard-in-browser';
import { withDashboard } from '../with-dashboard';

/** Time in which a page shows that its person may do less: it reads again every ten seconds. */
const SOON_MS = 20_000;

/** Tests of pages that are open while their person's role is lowered, or the agent deactivated. */
describe('a page whose person may do less than when it was opened', () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let visit: AgentPage;

  withDashboard(async (started) => {
    world = started;
    workspace = await world.service.make.workspace();
    await world.service.make.agent(workspace, { role: 'OWNER' });
    visit = await world.enter(workspace, 'OWNER');
  });

  const change = (input: UpdateAgent) =>
    world.dashboard.get(AgentsService).update(workspace.id, visit.agent.id, input, SYSTEM);
  const links = () => visit.page.getByRole('navigation').getByRole('link');
  async function conversation() {
    const made = await world.service.make.conversation(workspace);
    await world.service.make.received(workspace, made, 'Where is my parcel?');
    return made;
  }

  it('says that managers alone may do what a dialog asks for, and no longer links to it', async () => {
    await visit.settings(workspace, 'api-keys');
    await visit.button('Create a key').first().click();
    await visit.dialog.getByLabel('Name', { exact: true }).fill('CRM sync');
    await change({ role: 'AGENT' });
    await visit.act('Create a key').click();
    await visit.text('Only owners and admins see this page').first().waitFor();
    await visit.dialog.waitFor({ state: 'detached' });
    await links().filter({ hasText: 'API keys' }).waitFor({ state: 'detached' });
    expect(await world.service.query('SELECT 1 FROM api_keys WHERE tenant_id = $1', [workspace.id])).toEqual(
      [],
    );
  });

  it('shows it within seconds to who does nothing', async () => {
    await visit.settings(workspace, 'api-keys');
    await visit.button('Create a key').first().click();
    await change({ role: 'AGENT' });
    await visit.text('Only owners and admins see this page').first().waitFor({ timeout: SOON_MS });
    await visit.dialog.waitFor({ state: 'detached' });
  });

  it('keeps the page of a contact, says why it is not erased, and offers it no more', async () => {
    const { id } = await world.service.make.contact(workspace, { name: 'Ada' });
    await visit.page.goto(`/w/${workspace.slug}/contacts/${id}`);
    await visit.button('Erase').click();
    await visit.dialog.getByRole('textbox').fill('Ada');
    await change({ role: 'AGENT' });
    await visit.act('Erase').click();
    await visit.dialog
      .getByRole('alert')
      .getByText(/may not|role/)
      .first()
      .waitFor();
    const rights = visit.page.getByRole('region', { name: 'Data of this person' });
    await rights.waitFor({ state: 'detached', timeout: SOON_MS });
    await visit.page.getByRole('heading', { name: 'Ada' }).waitFor();
  });

  it('goes on answering in the inbox as an AGENT', async () => {
    const { id } = await conversation();
    await visit.page.goto(`/w/${workspace.slug}/inbox/${id}?view=all`);
    await visit.field('Reply').fill('It left');
    await change({ role: 'AGENT' });
    await visit.field('Reply').pressSequentially(' yesterday.');
    await visit.field('Reply').press('Control+Enter');
    await visit.page
      .locator('article:not([data-unsent])')
      .filter({ hasText: 'It left yesterday.' })
      .waitFor();
  });

  it('shows it within seconds in an inbox where one does nothing', async () => {
    await conversation();
    await visit.page.goto(`/w/${workspace.slug}/inbox?view=all`);
    const apiKeys = links().filter({ hasText: 'API keys' });
    await apiKeys.waitFor();
    await change({ role: 'AGENT' });
    await apiKeys.waitFor({ state: 'detached', timeout: SOON_MS });
    await visit.page.locator('[data-conversation]').waitFor();
  });

  it.each(['inbox', 'settings/api-keys'])(
    'shows nothing of %s to an agent who is deactivated',
    async (path) => {
      await conversation();
      await visit.page.goto(`/w/${workspace.slug}/${path}`);
      await visit.page.getByRole('heading', { level: 1 }).waitFor();
      await change({ active: false });
      const gone = visit.page.getByRole('heading', { name: /Nothing is here|Log in|workspace/ });
      await gone.first().waitFor({ timeout: SOON_MS });
      expect(await visit.text('Where is my parcel?').count()).toBe(0);
    },
  );
});
