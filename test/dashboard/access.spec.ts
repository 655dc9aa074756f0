import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants';
import { ModulesContainer } from '@nestjs/core';
import { AGENT_ROLES, AgentRole } from '../../src/access/permissions';
import { newId } from '../../src/common/ids';
import { PUBLIC } from '../../src/http/access.decorators';
import {
  callRoute,
  makeSettings,
  nameOf,
  OTHER_ROUTES,
  Settings,
  WITH_ID,
  WORKSPACE_ROUTES,
  WorkspaceRoute,
} from '../support/dashboard-routes';
import { errorBody } from '../support/errors';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { Browser, TestDashboard } from '../support/test-dashboard';

const each = <R extends { method: string; path: string }>(routes: R[]) =>
  routes.map((route): [string, R] => [nameOf(route), route]);
const CHANGES = WORKSPACE_ROUTES.filter(({ method }) => method !== 'GET');
const CLOSED = OTHER_ROUTES.filter(({ isPublic }) => !isPublic);
const UNAUTHENTICATED = { status: 401, body: errorBody('UNAUTHENTICATED', 'Log in first.') };
/**
 * Pages of other sites, by the headers that their browsers send: `Sec-Fetch-Site` and `Origin`. The last one
 * sends none.
 */
const OTHER_PAGES = [
  ['cross-site', 'https://evil.example'],
  ['same-site', 'http://localhost:3101'],
  ['none', 'null'],
  ['', ''],
] as const;
const OVERVIEW = WORKSPACE_ROUTES[0]!;

describe("access to the dashboard's routes", () => {
  let service: TestService;
  let dashboard: TestDashboard;
  let receiver: Receiver;
  let own: Settings;
  let other: Settings;
  /** Browsers of agents in the first workspace, by role. */
  const browsers = {} as Record<AgentRole, Browser>;

  beforeAll(async () => {
    service = await TestService.create();
    dashboard = await TestDashboard.create(service.stores);
    receiver = await Receiver.start();
    own = await makeSettings(service, dashboard, receiver.url());
    other = await makeSettings(service, dashboard, receiver.url());
    for (const role of AGENT_ROLES)
      browsers[role] = await dashboard.logIn(await service.make.agent(own.workspace, { role }));
  });

  const idFor = async (route: WorkspaceRoute, settings: Settings) =>
    (await route.thing?.make(settings)) ?? '';

  it.each(each(WORKSPACE_ROUTES))('%s works for an owner', async (_, route) => {
    const { status, body } = await callRoute(own, route, { id: await idFor(route, own) });
    expect({ status, body }).toEqual({ status: route.success, body: body as unknown });
    if (route.success < 204) expect(body).toBeTruthy();
  });

  it.each(each(WORKSPACE_ROUTES))('%s is closed without a session', async (_, route) => {
    const answer = await callRoute(own, route, { browser: dashboard.browser, id: newId() });
    expect(answer).toMatchObject(UNAUTHENTICATED);
  });

  it.each(each(CLOSED))('%s is closed without a session', async (_, { method, path }) => {
    const address = path.replace(':workspaceId', own.workspace.id).replace(':id', newId());
    const answer = await dashboard.browser.send(method, address, method === 'GET' ? undefined : {});
    expect(answer).toMatchObject(UNAUTHENTICATED);
  });

  it.each(each(WORKSPACE_ROUTES))('%s does not find the workspace for a stranger', async (_, route) => {
    const { browser } = other;
    const answer = await callRoute(own, route, { browser, id: await idFor(route, own) });
    const body = errorBody('NOT_FOUND', 'Workspace not found.');
    expect(answer).toMatchObject({ status: 404, body });
  });

  it.each(each(WITH_ID))('%s does not find what is of another workspace, or of none', async (_, route) => {
    const body = errorBody('NOT_FOUND', `${route.thing.noun} not found.`);
    for (const id of [await idFor(route, other), newId(), 'nope'])
      expect(await callRoute(own, route, { id })).toMatchObject({ status: 404, body });
  });

  it.each(each(WORKSPACE_ROUTES))('%s is refused to the roles that may not', async (_, route) => {
    for (const role of AGENT_ROLES) {
      const browser = browsers[role];
      const { status, body } = await callRoute(own, route, { browser, id: await idFor(route, own) });
      if (route.isOwn) expect(status).toBe(404);
      else if (route.roles?.includes(role) ?? true) expect([200, 201, 204, 400]).toContain(status);
      else
        expect({ status, body }).toEqual({
          status: 403,
          body: errorBody('FORBIDDEN', expect.stringContaining(role)),
        });
    }
  });

  it.each(each(CHANGES))('%s is refused from a page of another origin', async (_, route) => {
    const message = 'Changes are only taken from the pages at http://localhost:3100.';
    const address = `/api/workspaces/${own.workspace.id}${route.path.replace(':id', newId())}`;
    for (const [site, origin] of OTHER_PAGES) {
      const headers = { 'sec-fetch-site': site, origin };
      const answer = await own.browser.send(route.method, address, (await route.body?.(own)) ?? {}, headers);
      expect(answer).toMatchObject({ status: 403, body: errorBody('FORBIDDEN', message) });
    }
  });

  it('takes a change from a browser that names its origin alone', async () => {
    const headers = { 'sec-fetch-site': '', origin: 'http://localhost:3100' };
    const { status } = await own.browser.send('PATCH', '/api/account', { theme: 'dark' }, headers);
    expect(status).toBe(200);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])(
    'takes no change as %s, which a form can send',
    async (type) => {
      const answer = await own.browser.send('POST', '/api/logout', '{}', { 'content-type': type });
      const body = errorBody('INVALID_BODY', 'A JSON object sent as application/json is required.');
      expect(answer).toMatchObject({ status: 400, body });
      expect((await own.browser.get('/api/session')).status).toBe(200);
    },
  );

  it('ends for an agent with the deactivation', async () => {
    const agent = await service.make.agent(own.workspace);
    const browser = await dashboard.logIn(agent);
    expect((await callRoute(own, OVERVIEW, { browser })).status).toBe(200);
    const address = `/api/workspaces/${own.workspace.id}/agents/${agent.id}`;
    expect((await own.browser.patch(address, { active: false })).status).toBe(200);
    expect((await callRoute(own, OVERVIEW, { browser })).status).toBe(404);
    expect((await browser.get('/api/session')).body.workspaces).toEqual([]);
  });

  it('is tried here for every route that there is', () => {
    const found = routesOf(dashboard);
    const below = '/api/workspaces/:workspaceId';
    const known = [...WORKSPACE_ROUTES.map(({ method, path }) => nameOf({ method, path: below + path }))];
    expect(found.map(nameOf).sort()).toEqual([...known, ...OTHER_ROUTES.map(nameOf)].sort());
    const open = OTHER_ROUTES.filter(({ isPublic }) => isPublic);
    const foundOpen = found.filter(({ isPublic }) => isPublic);
    expect(foundOpen.map(nameOf).sort()).toEqual(open.map(nameOf).sort());
  });
});

/** Lists the routes of all controllers. */
function routesOf({ app }: TestDashboard): { method: string; path: string; isPublic: boolean }[] {
  return [...app.get(ModulesContainer).values()]
    .flatMap(({ controllers }) => [...controllers.values()])
    .flatMap(({ metatype }) => {
      const controller = metatype as unknown as { prototype: Record<string, object> };
      const base = Reflect.getMetadata(PATH_METADATA, controller) as string;
      return Object.getOwnPropertyNames(controller.prototype)
        .map((name) => controller.prototype[name]!)
        .filter((handler) => Reflect.hasMetadata(METHOD_METADATA, handler))
        .map((handler) => ({
          method: RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as number]!,
          path: `/${base}/${Reflect.getMetadata(PATH_METADATA, handler) as string}`.replace(/\/+$/, ''),
          isPublic: [handler, controller].some((target) => Reflect.hasMetadata(PUBLIC, target)),
        }));
    });
}
