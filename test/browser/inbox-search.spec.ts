import { resolve } from 'node:path';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { accessibilityFaultsOf } from './accessibility';
import { DashboardInBrowser, DashboardPage } from './dashboard-in-browser';

const INDEXED_MS = 20_000;
const SHOTS = process.env.SHOTS;

/** Tests of the inbox's search, as agents use it. */
describe('the search of the inbox', () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let visit: DashboardPage;
  let conversation: { id: string };
  const many = 260;

  beforeAll(async () => {
    world = await DashboardInBrowser.start();
    workspace = await world.service.make.workspace();
    visit = await world.enter(workspace, 'AGENT');
    const { make } = world.service;
    conversation = await make.conversation(workspace);
    await make.received(workspace, conversation, '[image] A needle, half\nhidden');
    for (let n = 0; n < many; n++)
      await make.received(workspace, conversation, n === 100 ? '<b>Needle</b> in the 包裹' : `Haystack ${n}`);
    const other = await make.conversation(workspace, {
      contactId: (await make.contact(workspace, { name: 'Needle & Sons' })).id,
    });
    await make.received(workspace, other, 'مرحبا needle');
  }, 180_000);

  const shoot = async (name: string) => {
    if (SHOTS) await visit.page.screenshot({ path: resolve(SHOTS, `${name}.png`) });
  };

  it('finds messages and customers by keyboard, and opens the conversation at the message', async () => {
    const { page } = visit;
    await page.goto(`/w/${workspace.slug}/inbox?view=all`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    const results = page.getByRole('region', { name: 'Results' });
    const messages = results.getByRole('region', { name: 'Messages' }).getByRole('link');
    const end = Date.now() + INDEXED_MS;
    for (;;) {
      await page.keyboard.press('/');
      await page.keyboard.type('needle');
      if (
        (await messages
          .nth(2)
          .waitFor({ timeout: 2_000 })
          .catch(() => 'none')) !== 'none'
      )
        break;
      expect(Date.now()).toBeLessThan(end);
      await page.reload();
      await page.getByRole('heading', { level: 1 }).waitFor();
    }
    expect(await messages.count()).toBe(3);
    expect(await messages.nth(2).textContent()).toContain('Picture A needle, half');
    expect(await messages.nth(2).locator('mark').allTextContents()).toEqual(['needle']);
    expect(await messages.nth(1).locator('mark').allTextContents()).toEqual(['Needle']);
    expect(await messages.nth(1).textContent()).toContain('<b>Needle</b> in the 包裹');
    await results.getByRole('region', { name: 'Customers' }).getByText('Needle & Sons').waitFor();
    await shoot('search-results');

    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`/inbox/${conversation.id}.*message=`));
    const found = page.locator('article', { hasText: '<b>Needle</b>' });
    await found.waitFor();
    const box = (await found.boundingBox())!;
    expect(box.y).toBeGreaterThan(150);
    expect(box.y).toBeLessThan(700);
    await page.getByText('Haystack 99', { exact: true }).waitFor();
    await shoot('search-jump');
    expect(
      await page
        .getByText(`Haystack ${many - 1}`, { exact: true })
        .locator('visible=true')
        .count(),
    ).toBe(0);

    await page.getByRole('button', { name: 'Newer messages' }).click();
    await page.getByText('Haystack 150', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'To the newest message' }).click();
    await page.locator('article', { hasText: `Haystack ${many - 1}` }).waitFor();
    expect(page.url()).not.toContain('message=');
    expect(visit.errors).toEqual([]);
  }, 120_000);

  it('says that nothing was found, and ends', async () => {
    const { page } = visit;
    const field = page.getByRole('searchbox', { name: 'Search messages and customers' });
    await field.fill('absent');
    await page.getByText('Nothing found').waitFor();
    await field.press('Escape');
    await page.getByRole('navigation', { name: 'Views' }).waitFor();
    expect(await field.inputValue()).toBe('');
  }, 60_000);

  it.each(['light', 'dark'] as const)(
    'has no fault of access on a phone, %s',
    async (colorScheme) => {
      const { page } = visit;
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width: 390, height: 780 });
      await page.goto(`/w/${workspace.slug}/inbox?view=all`);
      const field = page.getByRole('searchbox', { name: 'Search messages and customers' });
      await field.fill('needle');
      await page.getByRole('region', { name: 'Messages' }).getByRole('link').first().waitFor();
      await shoot(`search-phone-${colorScheme}`);
      expect(await accessibilityFaultsOf(page, 'main')).toEqual([]);
      await page.getByRole('region', { name: 'Messages' }).getByRole('link').nth(1).click();
      await page.locator('article', { hasText: '<b>Needle</b>' }).waitFor();
      await shoot(`search-phone-jump-${colorScheme}`);
    },
    90_000,
  );
});
