import { randomUUID } from 'node:crypto';
import { WorkspaceEntity } from '../../../src/workspaces/workspace.entity';
import { letTimePass } from '../../support/wait';
import { TestVisitor, TestWidget } from '../../support/widget';
import { DashboardInBrowser, DashboardPage } from '../dashboard-in-browser';
import { withDashboard } from '../with-dashboard';

/** Limit of the requests that a tab makes for one reply, from the key press until it is delivered. */
const MAX_REQUESTS = 6;

describe('a reply', () => {
  let world: DashboardInBrowser;
  let workspace: WorkspaceEntity;
  let visitor: TestVisitor;
  let visit: DashboardPage;
  let colleague: DashboardPage;
  let conversationId: string;

  withDashboard(async (started) => {
    world = started;
    workspace = await world.service.make.workspace();
    const widget = await TestWidget.connect(world.service, workspace);
    visitor = await widget.visitor(world.service);
    expect(await visitor.post(randomUUID())).toMatchObject({ status: 201 });
    const [row] = await world.service.query<{ id: string }>(
      'SELECT id FROM conversations WHERE tenant_id = $1',
      [workspace.id],
    );
    conversationId = row!.id;
    visit = await world.enter(workspace, 'AGENT');
    colleague = await world.enter(workspace, 'AGENT');
  });

  const open = async (page: DashboardPage['page'], view: string) => {
    // Nothing is read every few seconds.
    await page.addInitScript('setInterval = () => 0');
    await page.goto(`/w/${workspace.slug}/inbox/${conversationId}?view=${view}`);
    await page.locator('article').first().waitFor();
  };
  const article = (page: DashboardPage['page'], text: string) =>
    page.locator('article').filter({ hasText: text });
  const drafts = () =>
    world.service.query<{ body: string }>('SELECT body FROM drafts WHERE tenant_id = $1', [workspace.id]);
  const idOf = async (body: string) => {
    const [row] = await world.service.query<{ id: string }>(
      'SELECT id FROM messages WHERE tenant_id = $1 AND body = $2',
      [workspace.id, body],
    );
    return row!.id;
  };
  /** Writes a reply, and returns the requests of the tab from the key press until 2 s after its delivery. */
  async function requestsOf(text: string): Promise<string[]> {
    const requests: string[] = [];
    const count = (request: { method: () => string; url: () => string }) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith('/api/'))
        requests.push(`${request.method()} ${pathname.split('/').slice(4).join('/')}`);
    };
    const saved = visit.page.waitForResponse((answer) => answer.request().method() === 'PUT');
    await visit.field('Reply').fill(text);
    await (await saved).finished();
    expect(await drafts()).toMatchObject([{ body: text }]);
    visit.page.on('request', count);
    await visit.field('Reply').press('Control+Enter');
    await article(visit.page, text).getByText('Sent', { exact: true }).waitFor();
    expect(await visitor.receipt(await idOf(text), 'DELIVERED')).toMatchObject({ status: 200 });
    await article(visit.page, text).getByText('Delivered', { exact: true }).waitFor();
    await letTimePass(2_000);
    visit.page.off('request', count);
    return requests;
  }

  it.each(['all', 'nobody', 'mine'])(
    'costs its tab few requests in the view %s, and others see all of it',
    async (view) => {
      const other = await visit.context.newPage();
      await open(visit.page, view);
      await open(other, 'all');
      await open(colleague.page, 'all');
      // By now nobody reads what was missed before the streams began: the server looks for it every 15 s.
      await letTimePass(16_000);
      for (const text of ['Yes, we do.', 'Within three days.']) {
        const requests = await requestsOf(text);
        expect(requests.length).toBeLessThanOrEqual(MAX_REQUESTS);
        for (const page of [other, colleague.page])
          await article(page, text).getByText('Delivered', { exact: true }).waitFor();
        expect(await drafts()).toEqual([]);
      }
    },
    120_000,
  );
});
