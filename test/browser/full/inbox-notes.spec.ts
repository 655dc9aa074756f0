import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { accessibilityFaultsOf } from '../accessibility';
import { AgentPage, DashboardInBrowser } from '../dashboard-in-browser';
import { PHONE } from '../phone';
import { withDashboard } from '../with-dashboard';

describe('notes in the inbox', () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;

  withDashboard(async (started) => {
    world = started;
    workspace = await world.service.make.workspace();
  });

  async function conversation() {
    const made = await world.service.make.conversation(workspace);
    await world.service.make.received(workspace, made, 'Where is it?');
    return made;
  }
  const open = async ({ page }: AgentPage, { id }: { id: string }) => {
    await page.goto(`/w/${workspace.slug}/inbox/${id}?view=all`);
    await page.locator('article').first().waitFor();
  };
  const field = (visit: AgentPage) => visit.field('Note for colleagues');
  const note = ({ page }: AgentPage, text: string) =>
    page.locator('article[data-note]').filter({ hasText: text });
  const count = async (table: 'messages' | 'notes') => {
    const [row] = await world.service.query<{ n: number }>(
      `SELECT count(*)::integer AS n FROM ${table} WHERE tenant_id = $1`,
      [workspace.id],
    );
    return row!.n;
  };

  it('are written by keyboard alone, and appear to a colleague at once', async () => {
    const [lin, mia] = [await world.enter(workspace, 'AGENT'), await world.enter(workspace, 'AGENT')];
    const made = await conversation();
    // Only the stream tells.
    await mia.page.addInitScript('setInterval = () => 0');
    await open(lin, made);
    await open(mia, made);
    const { keyboard } = lin.page;
    await keyboard.press('n');
    await keyboard.type('Never ask for the card number.');
    expect(await lin.button('Send').count()).toBe(0);
    await keyboard.press('Control+Enter');
    await note(lin, 'card number').getByText('You').waitFor();
    await note(mia, 'card number').waitFor();
    expect(await note(mia, 'card number').getAttribute('aria-label')).toBe(
      `Note for colleagues by ${lin.agent.name}`,
    );
    expect([await count('messages'), await count('notes')]).toEqual([1, 1]);

    // It stays a note until one says otherwise.
    await keyboard.type('Second');
    await keyboard.press('Control+Enter');
    await note(lin, 'Second').waitFor();
    expect([await count('messages'), await count('notes')]).toEqual([1, 2]);
    expect(await lin.page.locator('article').allInnerTexts()).toEqual([
      expect.stringContaining('Where is it?'),
      expect.stringContaining('card number'),
      expect.stringContaining('Second'),
    ]);
  });

  it('have a text of their own, which outlives the page', async () => {
    const lin = await world.enter(workspace, 'AGENT');
    const made = await conversation();
    await open(lin, made);
    await lin.field('Reply').fill('Dear customer');
    await lin.page.getByRole('radio', { name: 'Write a note' }).check({ force: true });
    expect(await field(lin).inputValue()).toBe('');
    await field(lin).fill('Rude today');
    await lin.page.getByRole('radio', { name: 'Write a note' }).press('ArrowLeft');
    expect(await lin.field('Reply').inputValue()).toBe('Dear customer');
    await lin.page.reload();
    expect(await lin.field('Reply').inputValue()).toBe('Dear customer');
    await lin.field('Reply').press('Escape');
    await lin.page.keyboard.press('n');
    expect(await field(lin).inputValue()).toBe('Rude today');
    await field(lin).press('Escape');
    await lin.page.keyboard.press('r');
    await lin.field('Reply').press('Control+Enter');
    await lin.page
      .locator('article[data-from=agent]:not([data-unsent])')
      .getByText('Dear customer')
      .waitFor();
    expect([await count('messages'), await count('notes')]).toEqual([2, 0]);
  });

  it('are kept when the server can not be reached, and then written once', async () => {
    const lin = await world.enter(workspace, 'AGENT');
    const made = await conversation();
    await open(lin, made);
    let losses = 0;
    await lin.page.route('**/notes', async (route) => {
      if (route.request().method() !== 'POST' || losses > 0) return route.continue();
      losses += 1;
      await route.fetch();
      return route.abort('connectionreset');
    });
    await lin.page.keyboard.press('n');
    await field(lin).fill('Ask Ana.');
    await lin.button('Add note').click();
    await lin.page.getByRole('alert').first().waitFor();
    expect(await field(lin).inputValue()).toBe('Ask Ana.');
    await lin.button('Add note').click();
    await note(lin, 'Ask Ana.').waitFor();
    expect(await field(lin).inputValue()).toBe('');
    expect(await count('notes')).toBe(1);
  });

  it('are deleted by their author and by an admin, after a question', async () => {
    const [lin, mia, admin] = [
      await world.enter(workspace, 'AGENT'),
      await world.enter(workspace, 'AGENT'),
      await world.enter(workspace, 'ADMIN'),
    ];
    const made = await conversation();
    await open(lin, made);
    for (const text of ['First', 'Second']) {
      await lin.page.keyboard.press('n');
      await field(lin).fill(text);
      await field(lin).press('Control+Enter');
      await note(lin, text).waitFor();
      await field(lin).press('Escape');
    }
    await open(mia, made);
    await note(mia, 'First').waitFor();
    expect(await mia.button('Delete note').count()).toBe(0);
    const remove = async (visit: AgentPage, text: string) => {
      await note(visit, text).getByRole('button', { name: 'Delete note' }).click();
      await visit.act('Delete note').click();
      await note(visit, text).waitFor({ state: 'detached' });
    };
    await remove(lin, 'First');
    await open(admin, made);
    await remove(admin, 'Second');
    for (const text of ['First', 'Second']) await note(mia, text).waitFor({ state: 'detached' });
    expect(await count('notes')).toBe(0);
  });

  it.each([
    ['light', undefined],
    ['dark', undefined],
    ['light', PHONE],
    ['dark', PHONE],
  ] as const)('are accessible, and fit: %s, %o', async (colorScheme, size) => {
    const lin = await world.enter(workspace, 'AGENT', { ...size, colorScheme, locale: 'de-DE' });
    const made = await conversation();
    await open(lin, made);
    await lin.page.getByRole('radio', { name: 'Notiz schreiben' }).check({ force: true });
    await lin.field('Notiz für Kollegen').fill(`Nicht nach der Karte fragen. ${'x'.repeat(300)}`);
    await lin.button('Notiz hinzufügen').click();
    await lin.page.locator('article[data-note]').waitFor();
    await lin.field('Notiz für Kollegen').fill('Noch eine');
    expect(await accessibilityFaultsOf(lin.page, 'main')).toEqual([]);
    const main = lin.page.locator('main');
    expect(await main.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
  });
});
