import { SYSTEM } from '../../../src/access/principal';
import { idFloor } from '../../../src/common/ids';
import { MessagesService } from '../../../src/messages/messages.service';
import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { accessibilityFaultsOf } from '../accessibility';
import { DashboardInBrowser, DashboardPage } from '../dashboard-in-browser';
import { PHONE } from '../phone';
import { withDashboard } from '../with-dashboard';

/** Tests of how the dashboard shows customers who wait for a reply. */
describe('customers who wait', () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let first: { id: string };
  let second: { id: string };

  withDashboard(async (started) => {
    world = started;
    const { make } = world.service;
    workspace = await make.workspace();
    await make.agent(workspace);
    first = await make.begun(workspace, 'Zoë Martín', 'Where is my parcel?');
    second = await make.begun(workspace, 'Ben Novak', 'May I return it?');
    for (const [{ id }, minutes] of [
      [first, 15],
      [second, 185],
    ] as const)
      await world.service.query('UPDATE conversations SET waiting_message_id = $2 WHERE id = $1', [
        id,
        idFloor(new Date(Date.now() - minutes * 60_000)),
      ]);
  });

  const namesIn = ({ page }: DashboardPage) =>
    page.locator('[data-conversation] bdi:first-child').allTextContents();
  const answer = ({ id }: { id: string }) =>
    world.service.app.get(MessagesService).send(workspace.id, id, { body: 'It is on its way.' }, SYSTEM);

  it('are in a view with a count, longest waiting first, until they are answered', async () => {
    const visit = await world.enter(workspace);
    const { page } = visit;
    await page.goto(`/w/${workspace.slug}/settings/overview`);
    await page.getByText(/^longest for 3 h/).waitFor();
    expect(await accessibilityFaultsOf(page, 'main')).toEqual([]);
    await shoot(visit, 'overview');
    await page.getByRole('link', { name: 'Needs a reply' }).click();
    const view = page.getByRole('link', { name: /^Needs a reply/ });
    await view.and(page.locator('[aria-current]')).waitFor();
    await page.getByText(/^waits 3 h/).waitFor();
    expect((await namesIn(visit)).filter((name) => /Zoë|Ben/.test(name))).toEqual([
      'Ben Novak',
      'Zoë Martín',
    ]);
    await page.getByText(/^waits 1[5-7] min/).waitFor();
    expect(await view.textContent()).toContain('2');
    expect(await accessibilityFaultsOf(page, 'main')).toEqual([]);
    await shoot(visit, 'inbox');
    await page.locator(`[data-conversation="${second.id}"]`).click();
    await page.getByText('May I return it?').last().waitFor();
    await page.getByText(/^waits 3 h/).waitFor();
    await answer(second);
    await page.getByText(/^waits 3 h/).waitFor({ state: 'detached' });
    await page.getByText(/^waits 1[5-7] min/).waitFor();
  }, 60_000);

  it('are shown on a phone', async () => {
    const visit = await world.enter(workspace, 'AGENT', PHONE);
    await visit.page.goto(`/w/${workspace.slug}/inbox?view=waiting`);
    await visit.page.getByText(/^waits 1[5-7] min/).waitFor();
    expect(await accessibilityFaultsOf(visit.page, 'main')).toEqual([]);
    await shoot(visit, 'phone');
  }, 60_000);

  async function shoot({ page }: DashboardPage, name: string): Promise<void> {
    const folder = process.env['WAITING_PICTURES'];
    if (!folder) return;
    await page.screenshot({ path: `${folder}/${name}.png` });
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.screenshot({ path: `${folder}/${name}-dark.png` });
    await page.emulateMedia({ colorScheme: 'light' });
  }
});
