import { SecondFactorDemandsService } from '../../src/logins/second-factor/second-factor-demands.service';
import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { callRoute, makeSettings, nameOf, Settings, WORKSPACE_ROUTES } from '../support/dashboard-routes';
import { errorBody } from '../support/errors';
import { TestService } from '../support/service';
import { Browser, TestDashboard } from '../support/test-dashboard';

const LOCKED = errorBody('FORBIDDEN', 'Acme Support demands a second factor.');

describe('a workspace that demands a second factor', () => {
  let service: TestService;
  let dashboard: TestDashboard;
  let settings: Settings;
  let browser: Browser;

  beforeAll(async () => {
    service = await TestService.create();
    dashboard = await TestDashboard.create(service.stores);
    settings = await makeSettings(service, dashboard, 'https://127.0.0.1:9999/hook');
    browser = await dashboard.logIn(await service.make.agent(settings.workspace, { role: 'ADMIN' }));
  });

  const address = () => `/api/workspaces/${settings.workspace.id}/second-factor-demand`;
  const summary = async (of: Browser) => (await of.get('/api/session')).body.workspaces[0];

  it('tells who has none until when the workspace stays open', async () => {
    const { status, body } = await settings.browser.post(address(), { graceDays: 14 });
    expect({ status, body }).toEqual({
      status: 200,
      body: { graceDays: 14, demandedAt: expect.any(String) },
    });
    expect(await summary(browser)).toMatchObject({
      secondFactorGraceDays: 14,
      lockedAt: new Date(Date.parse(body.demandedAt) + 14 * 86_400_000).toISOString(),
      isLocked: false,
    });
    expect(await summary(settings.browser)).toMatchObject({ lockedAt: null, isLocked: false });
    expect((await browser.get(`/api/workspaces/${settings.workspace.id}/overview`)).status).toBe(200);
  });

  it('tells managers which agents have one', async () => {
    const { status, body } = await settings.browser.get(`${address()}/fulfilling`);
    expect({ status, body }).toEqual({ status: 200, body: { data: [settings.owner.id], nextCursor: null } });
  });

  it('is closed to who has none afterwards, on every route, but not their account', async () => {
    await dashboard.get(SecondFactorDemandsService).demand(settings.workspace.id, { graceDays: 0 }, SYSTEM);
    expect(await summary(browser)).toMatchObject({ isLocked: true });
    for (const route of WORKSPACE_ROUTES) {
      const { status, body } = await callRoute(settings, route, { browser, id: newId() });
      expect({ route: nameOf(route), status, body }).toEqual({
        route: nameOf(route),
        status: 403,
        body: LOCKED,
      });
    }
    expect((await browser.get('/api/account/sessions')).status).toBe(200);
    await browser.secure();
    expect(await summary(browser)).toMatchObject({ lockedAt: null, isLocked: false });
    expect((await browser.get(`/api/workspaces/${settings.workspace.id}/overview`)).status).toBe(200);
  });

  it('is no more known to a stranger than any other', async () => {
    const { browser: stranger } = await makeSettings(service, dashboard, 'https://127.0.0.1:9999/hook');
    expect(await stranger.get(`/api/workspaces/${settings.workspace.id}/overview`)).toMatchObject({
      status: 404,
      body: errorBody('NOT_FOUND', 'Workspace not found.'),
    });
  });
});
