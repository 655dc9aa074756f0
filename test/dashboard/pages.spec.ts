import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { errorBody } from '../support/errors';
import { TestService } from '../support/service';
import { TestDashboard } from '../support/test-dashboard';

const INDEX = `<!doctype html><meta name="csp-nonce" content="__CSP_NONCE__"><script src="/assets/app-1a2b.js"></script>`;
const SCRIPT = 'console.log("the dashboard")';
const FOREVER = 'public, max-age=31536000, immutable';

describe("the dashboard's pages", () => {
  let service: TestService;
  let dashboard: TestDashboard;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'messaging-pages-'));
    mkdirSync(join(folder, 'assets'));
    writeFileSync(join(folder, 'index.html'), INDEX);
    writeFileSync(join(folder, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
    writeFileSync(join(folder, 'assets/app-1a2b.js'), SCRIPT);
    writeFileSync(join(folder, 'assets/app-1a2b.js.gz'), gzipSync(SCRIPT));
    service = await TestService.create();
    dashboard = await TestDashboard.create(service.stores, {}, folder);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const get = (path: string, headers?: Record<string, string>) => dashboard.browser.get(path, headers);

  it.each([
    '/',
    '/login',
    '/welcome',
    '/settings/api-keys',
    '/w/acme/settings/webhooks?status=failed',
    '/index.html',
  ])('are one page at %s, which nobody keeps', async (path) => {
    const { status, headers, body } = await get(path);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
    });
    expect(headers).not.toHaveProperty('x-powered-by');
    expect(body).toMatch(/content="[\w-]{22}"/);
  });

  it('name in each answer a nonce of its own, which its policy names, too', async () => {
    const answers = [await get('/'), await get('/')];
    const nonces = answers.map(({ body }) => /content="([\w-]+)"/.exec(body as string)![1]!);
    expect(new Set(nonces).size).toBe(2);
    for (const [n, { headers }] of answers.entries())
      expect(String(headers['content-security-policy']).split(';')).toEqual([
        "default-src 'none'",
        "script-src 'self'",
        `style-src 'self' 'nonce-${nonces[n]}'`,
        "connect-src 'self'",
        "img-src 'self' data:",
        "media-src 'self'",
        "font-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
      ]);
  });

  it('have files that are kept for ever, compressed for those who can read that', async () => {
    const plain = await get('/assets/app-1a2b.js', { 'accept-encoding': 'identity' });
    expect(plain).toMatchObject({ status: 200, body: SCRIPT, headers: { 'cache-control': FOREVER } });
    const packed = await get('/assets/app-1a2b.js', { 'accept-encoding': 'gzip, br' });
    expect(packed).toMatchObject({ status: 200, body: SCRIPT, headers: { 'cache-control': FOREVER } });
    expect(packed.headers['content-length']).toBe(String(gzipSync(SCRIPT).length));
  });

  it('have files of one build, also while another build replaces them in the folder', async () => {
    const script = join(folder, 'assets/app-1a2b.js');
    for (const path of [script, `${script}.gz`]) rmSync(path);
    try {
      for (const encoding of ['identity', 'gzip']) {
        const { status, body } = await get('/assets/app-1a2b.js', { 'accept-encoding': encoding });
        expect({ status, body }).toEqual({ status: 200, body: SCRIPT });
      }
      expect(await get('/health/live')).toMatchObject({ status: 200 });
      const later = await TestDashboard.create(service.stores, {}, folder);
      expect(await later.browser.get('/assets/app-1a2b.js')).toMatchObject({ status: 404 });
      await later.close();
    } finally {
      writeFileSync(script, SCRIPT);
      writeFileSync(`${script}.gz`, gzipSync(SCRIPT));
    }
  });

  it('have files without a hash in their names, which are asked for again', async () => {
    const { status, headers } = await get('/favicon.svg');
    expect({ status, cache: headers['cache-control'] }).toEqual({ status: 200, cache: 'no-cache' });
  });

  it.each(['/assets/app-0000.js', '/assets/', '/assets', '/api', '/api/nope', '/health/nope'])(
    'are not at %s',
    async (path) => {
      expect(await get(path)).toMatchObject({ status: 404, body: errorBody('NOT_FOUND', 'No such path.') });
    },
  );

  it.each(['/assets/../index.html', '/assets/..%2f..%2fpackage.json', '/..%2f..%2f..%2fetc/passwd'])(
    'give nothing of the machine at %s',
    async (path) => {
      const { body } = await get(path);
      expect(JSON.stringify(body)).not.toMatch(/root:|"version"|__CSP_NONCE__/);
    },
  );

  it('name each answer, also an error, by a request id', async () => {
    const given = await get('/api/nope', { 'x-request-id': 'from-the-proxy' });
    expect(given.headers['x-request-id']).toBe('from-the-proxy');
    expect(given.body.error.requestId).toBe('from-the-proxy');
    const made = await get('/api/session');
    expect(made.body.error.requestId).toBe(made.headers['x-request-id']);
    expect(made.headers['cache-control']).toBe('no-store');
  });

  it.each<[string, string | object, number, string]>([
    ['no JSON', '{"email":', 400, 'INVALID_BODY'],
    ['a list', '[]', 400, 'INVALID_BODY'],
    ['an unknown field', { email: 'a@example.com', password: 'x', admin: true }, 400, 'INVALID_BODY'],
    ['too large', { email: 'a'.repeat(300_000), password: 'x' }, 413, 'PAYLOAD_TOO_LARGE'],
  ])('refuse a body that is %s', async (_, body, status, code) => {
    const answer = await dashboard.browser.send('POST', '/api/login', body);
    expect(answer.status).toBe(status);
    expect(answer.body.error.code).toBe(code);
  });

  it('say over https that there is nothing but https', async () => {
    const secure = await TestDashboard.create(
      service.stores,
      { APP_URL: 'https://dashboard.example' },
      folder,
    );
    try {
      const { headers } = await secure.browser.get('/');
      expect(headers['strict-transport-security']).toMatch(/^max-age=31536000/);
      expect((await get('/')).headers).not.toHaveProperty('strict-transport-security');
    } finally {
      await secure.close();
    }
  });

  it.each([
    ['another name', { host: 'attacker.example:3100' }, 421],
    ['another name, from a proxy', { 'x-forwarded-host': 'attacker.example' }, 421],
    ['no name of this machine', { host: 'localhost.attacker.example' }, 421],
    ['another name of this machine', { host: '127.0.0.1:8080' }, 200],
  ])('are for their own host alone: %s', async (_, headers, status) => {
    const given = headers as Record<string, string>;
    for (const path of ['/', '/assets/app-1a2b.js']) {
      const answer = await get(path, given);
      expect(answer.status).toBe(status);
      if (status === 421) expect(answer.body.error.code).toBe('MISDIRECTED_REQUEST');
    }
    const change = await dashboard.browser.post('/api/login', {}, given);
    expect(change.status).toBe(status === 200 ? 400 : 421);
    expect((await get('/health/live', given)).status).toBe(200);
  });

  it('are ready with what they need', async () => {
    expect(await get('/health/live')).toMatchObject({ status: 200, body: { status: 'up' } });
    const ready = { status: 'up', database: 'up', migrations: 'applied', redis: 'up' };
    expect(await get('/health/ready')).toMatchObject({ status: 200, body: ready });
  });
});
