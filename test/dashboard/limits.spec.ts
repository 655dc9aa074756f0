import { METHOD_METADATA } from '@nestjs/common/constants';
import { ModulesContainer } from '@nestjs/core';
import {
  CHANGES_OF_PERSON,
  CHANGES_OF_WORKSPACE,
  REQUESTS_BEFORE_LOGIN,
  SHARE_OF_PERSON,
} from '../../dashboard/server/src/http/limit.guard';
import { FixedWindows } from '../../src/redis/fixed-windows';
import {
  callRoute,
  makeSettings,
  nameOf,
  OTHER_ROUTES,
  Settings,
  WORKSPACE_ROUTES,
} from '../support/dashboard-routes';
import { TestService } from '../support/service';
import { Answer, Browser, TestDashboard } from '../support/test-dashboard';

const NO_ID = '019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11';
const isChange = ({ method }: { method: string }) => method !== 'GET';
const CHANGES = WORKSPACE_ROUTES.filter(isChange);
/** Routes that write over a row of the person's own. */
const OWN_ROW = [
  'PATCH /alert-mails',
  'PUT /conversations/:id/draft',
  'PUT /conversations/:id/read-mark',
  'DELETE /conversations/:id/read-mark',
  'POST /inbox/presence',
  'POST /inbox/presence/active',
  'PATCH /notice-choices',
];

describe('limits of changes in the dashboard', () => {
  let service: TestService;
  let dashboard: TestDashboard;
  let settings: Settings;

  beforeAll(async () => {
    service = await TestService.create();
    dashboard = await TestDashboard.create(service.stores);
  });
  beforeEach(async () => {
    settings = await makeSettings(service, dashboard, 'https://127.0.0.1:9/hook');
  });

  const contactsOf = ({ workspace }: Settings) => `/api/workspaces/${workspace.id}/contacts`;
  const createContact = (of: Settings, browser = of.browser) => browser.post(contactsOf(of), { name: 'Zoë' });
  const useUp = (key: string, max: number) =>
    dashboard.get(FixedWindows).acquire(`rate:dashboard:${key}`, { windowMs: 60_000 }, max);
  const personOf = async (browser: Browser) => (await browser.get('/api/session')).body.person.id as string;
  /** Names of the limits that routes have of their own. */
  const names = () => {
    const limits = [...dashboard.app.get(ModulesContainer).values()]
      .flatMap(({ controllers }) => [...controllers.values()])
      .flatMap(({ metatype }) => Object.values(Object.getOwnPropertyDescriptors(metatype?.prototype ?? {})))
      .map(({ value }) => value as object)
      .filter((value) => typeof value === 'function' && Reflect.hasMetadata(METHOD_METADATA, value))
      .map((handler) => Reflect.getMetadata('limit', handler) as { name: string; max: number } | undefined);
    return new Map(limits.flatMap((limit) => (limit ? [[limit.name, limit.max]] : [])));
  };
  const expectRefused = ({ status, headers, body }: Answer, reason: string) => {
    expect({ status, body }).toMatchObject({
      status: 429,
      body: { error: { code: 'RATE_LIMITED', reason } },
    });
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
  };

  it('refuse a loop of one person, and no other', async () => {
    const agent = await service.make.agent(settings.workspace, { role: 'AGENT' });
    const browser = await dashboard.logIn(agent);
    const statuses: number[] = [];
    for (let n = 0; n < CHANGES_OF_PERSON; n++)
      statuses.push((await createContact(settings, browser)).status);
    expect(new Set(statuses)).toEqual(new Set([201]));
    expectRefused(await createContact(settings, browser), 'too_many_requests');
    const contacts = await service.query('SELECT FROM contacts WHERE tenant_id = $1', [
      settings.workspace.id,
    ]);
    expect(contacts).toHaveLength(CHANGES_OF_PERSON);
    // What changes nothing is still answered, and so are colleagues and other workspaces.
    expect((await browser.get(contactsOf(settings))).status).toBe(200);
    expect((await createContact(settings)).status).toBe(201);
    const other = await makeSettings(service, dashboard, 'https://127.0.0.1:9/hook');
    expect((await createContact(other)).status).toBe(201);
  });

  it('refuse what all people of a workspace do together, and no other workspace', async () => {
    await useUp(`changes:${settings.workspace.id}`, CHANGES_OF_WORKSPACE);
    await useUp(`changes:${await personOf(settings.browser)}`, SHARE_OF_PERSON);
    expectRefused(await createContact(settings), 'too_many_changes');
    const other = await makeSettings(service, dashboard, 'https://127.0.0.1:9/hook');
    expect((await createContact(other)).status).toBe(201);
  });

  it('leave each person a share, whatever their colleagues do', async () => {
    await useUp(`changes:${settings.workspace.id}`, CHANGES_OF_WORKSPACE);
    const agent = await service.make.agent(settings.workspace, { role: 'AGENT' });
    const browser = await dashboard.logIn(agent);
    for (let n = 0; n < SHARE_OF_PERSON; n++)
      expect((await createContact(settings, browser)).status).toBe(201);
    expectRefused(await createContact(settings, browser), 'too_many_changes');
  });

  it('count each change for its workspace, but those of a row of the own', async () => {
    await useUp(`changes:${settings.workspace.id}`, CHANGES_OF_WORKSPACE);
    await useUp(`changes:${await personOf(settings.browser)}`, SHARE_OF_PERSON);
    const free: string[] = [];
    for (const route of CHANGES)
      if ((await callRoute(settings, route, { id: NO_ID })).status !== 429) free.push(nameOf(route));
    expect(free.sort()).toEqual([...OWN_ROW].sort());
  });

  it('are on every route that changes something', async () => {
    const person = await personOf(settings.browser);
    for (const [name, max] of [...names(), ['changes', CHANGES_OF_PERSON] as const])
      await useUp(`${name}:${person}`, max);
    const free: string[] = [];
    for (const route of CHANGES)
      if ((await callRoute(settings, route, { id: NO_ID })).status !== 429) free.push(nameOf(route));
    for (const route of OTHER_ROUTES.filter(isChange).filter(({ isPublic }) => !isPublic)) {
      const { status } = await settings.browser.send(route.method, route.path.replace(':id', NO_ID), {});
      if (status !== 429) free.push(nameOf(route));
    }
    expect(free).toEqual([]);
  });

  it('are on every public route too, for each network', async () => {
    const { browser } = dashboard;
    const routes = OTHER_ROUTES.filter(isChange).filter(({ isPublic }) => isPublic);
    const call = ({ method, path }: (typeof routes)[number], by: Browser) => by.send(method, path, {});
    for (let n = 0; n < REQUESTS_BEFORE_LOGIN; n++) await call(routes[n % routes.length]!, browser);
    for (const route of routes) expectRefused(await call(route, browser), 'too_many_requests');
    expect((await call(routes[0]!, dashboard.browser)).status).toBe(400);
  });
});
