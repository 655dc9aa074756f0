import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { request } from 'undici';
import {
  callRoute,
  makeSettings,
  nameOf as nameOfDashboard,
  OTHER_ROUTES,
  Settings,
  WORKSPACE_ROUTES,
} from '../support/dashboard-routes';
import { emptyRedis } from '../support/redis-connections';
import { Receiver } from '../support/receiver';
import { countFalseClasses, RESERVED_KEYS, withReservedKeys } from '../support/reserved-keys';
import { createTenant, nameOf, ROUTES, Tenant } from '../support/routes';
import { TestService } from '../support/service';
import { TestDashboard } from '../support/test-dashboard';
import { ORIGIN, TestWidget } from '../support/widget';
import { addressOf } from './hooks';
import { isFull } from './besiege';

/** Number of bodies that the long run sends to each route. */
const BODIES = 10_000;
const FILLER = 'x'.repeat(7_000);
/** Growth of the heap that the long run accepts for 70 MB of bodies. */
const MAX_GROWTH_MIB = 16;
const RUN_MS = isFull ? 600_000 : 60_000;
const NO_RATE_LIMIT = 1_000_000;

const API = ROUTES.filter(({ body }) => body).map((route) => [nameOf(route), route] as const);
const WIDGET: [path: string, body: object][] = [
  ['/sessions', { visitor: { id: 'customer-1', signature: '0'.repeat(64), name: 'Zoë' } }],
  ['/messages', { clientMessageId: '1', body: 'Hello', name: 'Zoë' }],
  ['/receipts', { messageId: '019ab3f6-0d4b-7c55-8a2e-6f1f7d1b2c90', status: 'READ' }],
  ['/typing', { conversationId: '019ab3f6-0d4b-7c55-8a2e-6f1f7d1b2c90', isTyping: true }],
];
const WORKSPACE = WORKSPACE_ROUTES.filter(({ body }) => body).map(
  (route) => [nameOfDashboard(route), route] as const,
);
/** Bodies of the dashboard's other routes, by their paths. */
const OTHER_BODIES: Record<string, object> = {
  '/api/login': { email: 'ada@example.com', password: 'correct horse battery' },
  '/api/login/second-factor': { code: '123456' },
  '/api/password-resets': { email: 'ada@example.com' },
  '/api/links/describe': { token: 'x'.repeat(43) },
  '/api/links/accept': { token: 'x'.repeat(43), name: 'Ada', password: 'correct horse battery' },
  '/api/account': { name: 'Ada' },
  '/api/account/password': { currentPassword: 'x', newPassword: 'correct horse battery' },
  '/api/account/second-factor': { password: 'x' },
  '/api/account/second-factor/confirm': { code: '123456' },
  '/api/account/second-factor/turn-off': { password: 'x', code: '123456' },
  '/api/account/recovery-codes': { password: 'x', code: '123456' },
};
const OTHERS = OTHER_ROUTES.filter(({ path, method }) => method !== 'GET' && OTHER_BODIES[path]).map(
  (route) => [nameOfDashboard(route), route] as const,
);

/**
 * Sends bodies with keys that JavaScript gives a meaning, at every depth, to every route that reads one. The
 * short run sends each body once, and the long run 10,000 bodies to each route.
 */
describe('Keys that JavaScript gives a meaning', () => {
  jest.setTimeout(RUN_MS);

  let service: TestService;
  let dashboard: TestDashboard;
  let receiver: Receiver;
  let tenant: Tenant;
  let settings: Settings;
  let widget: TestWidget;
  let tokens: string[];
  let sent = 0;

  beforeAll(async () => {
    setFlagsFromString('--expose-gc');
    service = await TestService.create({ env: { TRUST_PROXY: 'true' } });
    dashboard = await TestDashboard.create(service.stores);
    receiver = await Receiver.start();
    tenant = await createTenant(service, service.make.workspace({ rateLimit: NO_RATE_LIMIT }));
    settings = await makeSettings(service, dashboard, receiver.url());
    widget = await TestWidget.connect(service, await service.make.workspace());
    tokens = [];
    for (let n = 0; n < 20; n++) tokens.push(await newToken());
  });

  async function newToken(): Promise<string> {
    const { body } = await widget.page(service.client, { 'x-forwarded-for': addressOf(sent++) }).open();
    return body.token as string;
  }

  /** Sends the bodies, and expects no 500, and that nothing of them is kept. */
  async function attack(
    sample: object,
    send: (body: object) => Promise<{ status: number; body?: unknown }>,
  ): Promise<number[]> {
    const bodies = withReservedKeys(sample).map((body) => (isFull ? { ...body, filler: FILLER } : body));
    const statuses = new Set<number>();
    await send(sample);
    const heapBefore = isFull ? usedMebibytes() : 0;
    for (let n = 0; n < (isFull ? BODIES : bodies.length); n++) {
      // The dashboard counts what it has refused: no limit must come before the check of a body.
      if (n % 50 === 0) await emptyRedis(service.stores.redisUrl);
      const body = bodies[n % bodies.length]!;
      const { status, body: answer } = await send(body);
      if (status > 499) throw new Error(`${JSON.stringify(body)} got ${status}: ${JSON.stringify(answer)}`);
      statuses.add(status);
    }
    expect(countFalseClasses()).toBe(0);
    if (isFull) expect(usedMebibytes() - heapBefore).toBeLessThan(MAX_GROWTH_MIB);
    return [...statuses];
  }

  it.each(API)('get no 500 from %s, and nothing of them is kept', async (_, route) => {
    const id = (await route.thing?.idOf(tenant)) ?? '';
    const path = route.path.replace(':id', id);
    const statuses = await attack(await route.body!(tenant), (body) =>
      tenant.client.send({ method: route.method, path, body }),
    );
    expect(statuses).toContain(400);
  });

  it.each(WIDGET)('get no 500 from the widget’s %s, and nothing of them is kept', async (path, sample) => {
    const statuses = await attack(sample, async (body) => {
      const { statusCode, body: answer } = await request(`${service.baseUrl}${widget.path}${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          origin: ORIGIN,
          'x-forwarded-for': addressOf(sent++),
          ...(path !== '/sessions' && { authorization: `Bearer ${tokens[sent % tokens.length]}` }),
        },
        body: JSON.stringify(body),
      });
      return { status: statusCode, body: await answer.text() };
    });
    expect(statuses).toContain(400);
  });

  it.each(WORKSPACE)('get no 500 from the dashboard’s %s, and nothing of them is kept', async (_, route) => {
    const id = (await route.thing?.make(settings)) ?? '';
    await attack(await route.body!(settings), (body) =>
      callRoute(settings, { ...route, body: () => body }, { id }),
    );
  });

  const QUERIES = ['__proto__[x]=1', 'constructor[prototype][constructor][x]=1'];
  const queries = (path: string) =>
    [...RESERVED_KEYS.map((key) => `${key}=1`), ...QUERIES].map((query) => `${path}?${query}`);

  it('are refused in a query string, and nothing of them is kept', async () => {
    for (const route of ROUTES.filter(({ method }) => method === 'GET')) {
      const id = (await route.thing?.idOf(tenant)) ?? '';
      for (const path of queries(route.path.replace(':id', id)))
        expect({ path, ...(await tenant.client.send({ method: 'GET', path })) }).toMatchObject({
          path,
          status: 400,
        });
    }
    const reads = WORKSPACE_ROUTES.filter(({ method, isStream }) => method === 'GET' && !isStream);
    for (const { path, thing } of reads) {
      const id = (await thing?.make(settings)) ?? '';
      for (const address of queries(`/api/workspaces/${settings.workspace.id}${path.replace(':id', id)}`)) {
        const { status } = await settings.browser.get(address);
        expect({ address, isFault: status > 499 }).toEqual({ address, isFault: false });
      }
    }
    expect(countFalseClasses()).toBe(0);
  });

  it('are of no consequence as names of headers, of cookies and of things', async () => {
    const odd = Object.fromEntries(RESERVED_KEYS.map((key) => [key, 'x']));
    const { status } = await tenant.client.with(odd).get('/me');
    expect(status).toBe(200);
    const cookies = [...RESERVED_KEYS.map((key) => [key, 'x']), ...settings.browser.cookies];
    const cookie = cookies.map((pair) => pair.join('=')).join('; ');
    expect((await settings.browser.get('/api/session', { ...odd, cookie })).status).toBe(200);
    for (const key of RESERVED_KEYS) expect((await tenant.client.get(`/contacts/${key}`)).status).toBe(404);
  });

  it.each(OTHERS)('get no 500 from the dashboard’s %s, and nothing of them is kept', async (_, route) => {
    const { method, path, isPublic } = route;
    await attack(OTHER_BODIES[path]!, (body) =>
      // Each new browser has an address of its own, and so no limit of an address.
      (isPublic ? dashboard.browser : settings.browser).send(method, path, body),
    );
  });
});

/** Returns the size of the heap after a garbage collection. */
function usedMebibytes(): number {
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed / 1024 / 1024;
}
