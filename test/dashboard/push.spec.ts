import { generateVAPIDKeys } from 'web-push';
import { errorBody } from '../support/errors';
import { PushService } from '../support/push-service';
import { TestService } from '../support/service';
import { Browser, TestDashboard } from '../support/test-dashboard';

const VAPID = generateVAPIDKeys();

describe('notices in the browser of a session', () => {
  let service: TestService;
  let dashboard: TestDashboard;
  let push: PushService;
  let browser: Browser;

  beforeAll(async () => {
    service = await TestService.create();
    dashboard = await TestDashboard.create(service.stores, {
      VAPID_PUBLIC_KEY: VAPID.publicKey,
      VAPID_PRIVATE_KEY: VAPID.privateKey,
      VAPID_CONTACT: 'mailto:ops@example.com',
    });
    push = await PushService.start();
  });
  beforeEach(async () => {
    push.answer(201);
    browser = await dashboard.logIn(await service.make.agent(await service.make.workspace()));
  });

  const state = async (of = browser) => (await of.get('/api/account/push')).body;
  const turnOn = async () => {
    const subscription = push.subscribe();
    expect((await browser.send('PUT', '/api/account/push', subscription)).status).toBe(204);
    return subscription;
  };
  const test = (locale = 'en') => browser.post('/api/account/push/test', { locale });

  it('are turned on and off', async () => {
    const { publicKey } = VAPID;
    expect(await state()).toEqual({ publicKey, isOn: false });
    await turnOn();
    expect(await state()).toEqual({ publicKey, isOn: true });
    expect((await browser.delete('/api/account/push')).status).toBe(204);
    expect(await state()).toEqual({ publicKey, isOn: false });
  });

  it.each([
    ['en', 'It works'],
    ['de', 'Es funktioniert'],
  ])('are tested in the language of the page (%s)', async (locale, title) => {
    const subscription = await turnOn();
    expect(await test(locale)).toMatchObject({ status: 200, body: { isTaken: true } });
    const [{ content }] = push.receivedBy(subscription) as [any];
    expect(content).toEqual({ id: expect.any(String), title, body: expect.any(String), path: '/account' });
  });

  it('say in a test that the push service takes none', async () => {
    await turnOn();
    push.answer(429);
    expect(await test()).toMatchObject({ status: 200, body: { isTaken: false } });
    push.answer(410);
    expect(await test()).toMatchObject({ status: 200, body: { isTaken: false } });
    expect(await test()).toMatchObject({
      status: 404,
      body: errorBody('NOT_FOUND', 'Push address not found.'),
    });
  });

  it('are tested five times a minute at most', async () => {
    const subscription = await turnOn();
    for (let n = 0; n < 5; n++) expect((await test()).status).toBe(200);
    expect((await test()).status).toBe(429);
    expect(push.receivedBy(subscription)).toHaveLength(5);
  });

  it.each([
    ['PUT', '', { endpoint: 'https://127.0.0.1/', p256dh: 'x' }, 'auth'],
    ['PUT', '', { endpoint: 'http://push.example.com/', p256dh: '', auth: '' }, 'p256dh'],
    ['PUT', '', { endpoint: 'x'.repeat(2_049), p256dh: 'x', auth: 'x' }, 'endpoint'],
    ['PUT', '', { endpoint: 'x', p256dh: 'x'.repeat(101), auth: 'x' }, 'p256dh'],
    ['PUT', '', { endpoint: 1, p256dh: 'x', auth: 'x' }, 'endpoint'],
    ['PUT', '', { endpoint: 'x', p256dh: 'x', auth: 'x', expirationTime: null }, 'expirationTime'],
    ['POST', '/test', { locale: 'fr' }, 'locale'],
  ] as const)('take no wrong input: %s%s %j', async (method, path, body, field) => {
    const { status, body: answer } = await browser.send(method, `/api/account/push${path}`, body);
    expect(status).toBe(400);
    const { details } = (answer as { error: { details: { field: string }[] } }).error;
    expect(details.map((detail) => detail.field)).toContain(field);
  });

  it('end with a logout', async () => {
    await turnOn();
    const count = async () => (await service.query('SELECT FROM push_addresses')).length;
    const before = await count();
    await browser.post('/api/logout');
    expect(await count()).toBe(before - 1);
  });

  it('have a service worker under the policy of the pages', async () => {
    const { status, headers, body } = await dashboard.browser.get('/push-worker.js');
    expect({ status, type: headers['content-type'], cache: headers['cache-control'] }).toEqual({
      status: 200,
      type: expect.stringContaining('javascript'),
      cache: 'no-cache',
    });
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    // It takes part in no request, and is a classic script.
    expect(body).not.toMatch(/fetch|caches|import|export/);
  });
});
