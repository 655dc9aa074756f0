import type { Locator } from 'playwright-core';
import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { AgentPage, DashboardInBrowser } from '../dashboard-in-browser';
import { InputMethod } from '../input-method';
import { withDashboard } from '../with-dashboard';

describe('the keys of the inbox', () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let visit: AgentPage;
  let keyboard: InputMethod;

  withDashboard(async (started) => {
    world = started;
    const { make } = world.service;
    workspace = await make.workspace();
    await make.begun(workspace, 'Ada', 'Where is it?');
    const ben = await make.begun(workspace, 'Ben', 'And mine?');
    visit = await world.enter(workspace, 'AGENT');
    await visit.page.goto(`/w/${workspace.slug}/inbox/${ben.id}?view=all`);
    await visit.page.locator('article').first().waitFor();
    keyboard = await InputMethod.on(visit.page);
  });

  const replies = () => visit.page.locator('article[data-from="agent"]');
  const isFocused = (field: Locator) => field.evaluate((one) => one === document.activeElement);

  it('send nothing and leave no field while a word is composed (public reports 60, 61)', async () => {
    const reply = visit.field('Reply');
    await reply.click();
    await keyboard.compose('にほん');
    await keyboard.press('Enter', 'Enter', { control: true });
    await keyboard.compose('にほん');
    await keyboard.press('Escape');
    expect(await isFocused(reply)).toBe(true);
    expect(await replies().count()).toBe(0);

    await keyboard.compose('にほん');
    await keyboard.choose('日本');
    await reply.press('Control+Enter');
    await replies().filter({ hasText: '日本' }).waitFor();
    expect(await replies().count()).toBe(1);
  });

  it('end no search, and move to no result, while a word is composed (public report 60)', async () => {
    const search = visit.page.getByRole('searchbox');
    await search.click();
    await search.pressSequentially('Ada');
    await visit.page.locator('[data-result]').first().waitFor();
    for (const key of ['Enter', 'ArrowDown']) {
      await keyboard.compose('に');
      await keyboard.press(key);
      expect(await isFocused(search)).toBe(true);
      expect(await search.inputValue()).toContain('Ada');
    }
    await keyboard.choose('');
    await search.press('Escape');
    expect(await search.inputValue()).toBe('');
  });

  it('do the same on a layout without Latin letters (public report 62)', async () => {
    await visit.page.keyboard.press('Escape');
    // Russian: "т" is where N is, "к" where R is, and "." where the slash is.
    await keyboard.press('т', 'KeyN');
    await visit.page.getByPlaceholder('Only colleagues see this…').waitFor();
    await visit.page.keyboard.press('Escape');
    await keyboard.press('к', 'KeyR');
    await visit.field('Reply').waitFor();
    await visit.page.keyboard.press('Escape');
    await keyboard.press('.', 'Slash');
    expect(await isFocused(visit.page.getByRole('searchbox'))).toBe(true);
  });

  it('do the same in Greek and Hebrew (public report 62)', async () => {
    for (const [key, code] of [
      ['ν', 'KeyN'],
      ['מ', 'KeyN'],
    ] as const) {
      await visit.page.locator('section[aria-label^="Conversation with"]').focus();
      await keyboard.press(key, code);
      await visit.page.getByPlaceholder('Only colleagues see this…').waitFor();
      await visit.page.keyboard.press('Escape');
      await visit.page.keyboard.press('r');
      await visit.field('Reply').waitFor();
    }
  });
});
