import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { DashboardInBrowser, DashboardPage } from '../dashboard-in-browser';
import { withDashboard } from '../with-dashboard';

describe('the inbox', () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let visit: DashboardPage;

  withDashboard(async (started) => {
    world = started;
    workspace = await world.service.make.workspace();
    visit = await world.enter(workspace, 'AGENT');
  });

  async function openConversation() {
    const made = await world.service.make.conversation(workspace);
    await world.service.make.received(workspace, made, 'My grinder is broken');
    await visit.page.goto(`/w/${workspace.slug}/inbox/${made.id}?view=all`);
    await visit.page.locator('article').first().waitFor();
    await visit.button('Attach files').waitFor();
  }

  /** Gives data to an element as a drop or paste does. Returns whether the browser was kept from acting. */
  const give = (target: string, way: 'drop' | 'paste', kind: 'file' | 'link' | 'text' | 'both') =>
    visit.page
      .locator(target)
      .first()
      .evaluate(
        (element, [by, what]) => {
          const data = new DataTransfer();
          if (what === 'file' || what === 'both')
            data.items.add(new File(['x'], 'a.jpg', { type: 'image/jpeg' }));
          if (what === 'link') data.setData('text/uri-list', 'https://shop.example');
          if (what === 'text' || what === 'both') data.setData('text/plain', 'x');
          const how = { bubbles: true, cancelable: true };
          const events =
            by === 'drop'
              ? ['dragover', 'drop'].map((type) => new DragEvent(type, { ...how, dataTransfer: data }))
              : [new ClipboardEvent('paste', { ...how, clipboardData: data })];
          for (const event of events) element.dispatchEvent(event);
          return events.every((event) => event.defaultPrevented);
        },
        [way, kind] as const,
      );
  const refusal = () => visit.page.getByText('A note keeps no files.');

  const chosen = () => visit.page.getByRole('list', { name: 'Chosen files' }).getByText('a.jpg');

  it.each(['section textarea', 'article', 'nav'])(
    'takes files into the reply when they are dropped onto %s',
    async (target) => {
      await openConversation();
      expect(await give(target, 'drop', 'file')).toBe(true);
      await chosen().waitFor();
    },
  );

  it('takes files that are pasted without a text, and refuses them in words for a note', async () => {
    await openConversation();
    await give('section textarea', 'paste', 'both');
    expect(await chosen().count()).toBe(0);
    await give('section textarea', 'paste', 'file');
    await chosen().waitFor();
    await visit.page.keyboard.press('Escape');
    await visit.page.keyboard.press('n');
    await visit.page.getByPlaceholder('Only colleagues see this…').waitFor();
    expect(await refusal().count()).toBe(0);
    await give('section textarea', 'paste', 'file');
    await refusal().waitFor();
  });

  it('refuses files in words where no reply can be written', async () => {
    for (const path of ['inbox?view=all', 'contacts']) {
      await visit.page.goto(`/w/${workspace.slug}/${path}`);
      await visit.page.getByRole('heading', { level: 1 }).waitFor();
      expect(await give('main', 'drop', 'text')).toBe(true);
      expect(await visit.text('Files are not taken here.').count()).toBe(0);
      expect(await give('main', 'drop', 'file')).toBe(true);
      await visit.text('Files are not taken here.').waitFor();
      expect(await refusal().count()).toBe(0);
    }
  });

  it('leaves dropped texts to fields, and is not left for a link', async () => {
    await openConversation();
    expect(await give('section textarea', 'drop', 'text')).toBe(false);
    expect(await give('article', 'drop', 'link')).toBe(true);
    expect(await refusal().count()).toBe(0);
  });

  it('has no hints of keys on a phone', async () => {
    await openConversation();
    const shown = () =>
      Promise.all([
        visit.page.getByRole('button', { name: 'Keys' }).isVisible(),
        visit.page.locator('kbd').first().isVisible(),
      ]);
    await visit.page.goto(`/w/${workspace.slug}/inbox?view=all`);
    await visit.page.getByRole('searchbox').waitFor();
    expect(await shown()).toEqual([true, true]);
    await visit.page.setViewportSize({ width: 390, height: 844 });
    expect(await shown()).toEqual([false, false]);
  });
});
