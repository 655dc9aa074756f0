import { TOTP } from 'otpauth';
import { AuditService } from '../../src/audit/audit.service';
import { SYSTEM } from '../../src/access/principal';
import { AgentEntity } from '../../src/workspaces/agent.entity';
import { errorBody } from '../support/errors';
import { TestService } from '../support/service';
import { Browser, PASSWORD, TestDashboard } from '../support/test-dashboard';

const OTHER_PASSWORD = 'Thirteen red radishes';
const WRONG = errorBody('UNAUTHENTICATED', expect.any(String));

describe('logging in to the dashboard', () => {
  let service: TestService;
  let dashboard: TestDashboard;
  let agent: AgentEntity;
  let browser: Browser;

  beforeAll(async () => {
    service = await TestService.create();
    dashboard = await TestDashboard.create(service.stores);
  });
  beforeEach(async () => {
    agent = await service.make.agent(await service.make.workspace());
    browser = await dashboard.logIn(agent);
  });

  const logIn = (where: Browser, password = PASSWORD, email = agent.email) =>
    where.post('/api/login', { email, password });
  const whoIs = async (where: Browser) => (await where.get('/api/session')).body.person?.email;

  it('shows who is logged in, and where', async () => {
    const { status, body } = await browser.get('/api/session');
    expect(status).toBe(200);
    expect(body).toEqual({
      person: {
        id: expect.any(String),
        email: agent.email,
        name: agent.name,
        locale: null,
        theme: 'auto',
        hasSecondFactor: false,
      },
      workspaces: [
        {
          id: agent.tenantId,
          slug: expect.any(String),
          name: 'Acme Support',
          role: 'OWNER',
          agentId: agent.id,
          planTier: 'PRO',
          trialEndsAt: null,
          isTrialExpired: false,
          isSuspended: false,
          entitlements: [],
          secondFactorGraceDays: null,
          lockedAt: null,
          isLocked: false,
        },
      ],
      unreachableWorkspaces: 0,
      apiUrl: 'http://localhost:3000/api/v1',
      publicUrl: 'http://localhost:3000',
    });
  });

  it('takes the password, and no other', async () => {
    const { browser: next } = dashboard;
    expect(await logIn(next, 'wrong horse battery')).toMatchObject({ status: 401, body: WRONG });
    expect(next.cookies.size).toBe(0);
    expect(await logIn(next)).toMatchObject({ status: 200, body: { status: 'done' } });
    expect(await whoIs(next)).toBe(agent.email);
  });

  it('says the same of an e-mail address that nobody has', async () => {
    const wrong = await logIn(dashboard.browser, 'wrong horse battery');
    const unknown = await logIn(dashboard.browser, PASSWORD, 'nobody@example.com');
    expect(unknown.status).toBe(wrong.status);
    expect(unknown.body.error).toEqual({ ...wrong.body.error, requestId: expect.any(String) });
  });

  it('keeps the session in a cookie that no script reads, and in no body', async () => {
    const { headers, body } = await logIn(dashboard.browser);
    const [session, device] = headers['set-cookie'] as string[];
    expect(session).toMatch(
      /^session=[\w-]{43}; Max-Age=2592000; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/,
    );
    expect(device).toMatch(/^browser=[\w-]{43}; Max-Age=15552000; .*HttpOnly; SameSite=Lax$/);
    expect(body).toEqual({ status: 'done' });
  });

  it('keeps it to https and to its host where there is https', async () => {
    const secure = await TestDashboard.create(service.stores, { APP_URL: 'https://dashboard.example' });
    try {
      const { browser: next } = secure;
      const { headers } = await logIn(next);
      expect((headers['set-cookie'] as string[])[0]).toMatch(
        /^__Host-session=[\w-]{43}; Max-Age=2592000; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Lax$/,
      );
      expect(await whoIs(next)).toBe(agent.email);
      next.cookies.set('session', next.cookies.get('__Host-session')!);
      next.cookies.delete('__Host-session');
      expect((await next.get('/api/session')).status).toBe(401);
    } finally {
      await secure.close();
    }
  });

  it('ends with the logout, for every copy of the cookie', async () => {
    const copy = dashboard.browser;
    copy.cookies.set('session', browser.cookies.get('session')!);
    expect(await whoIs(copy)).toBe(agent.email);
    expect((await browser.post('/api/logout')).status).toBe(204);
    expect(browser.cookies.has('session')).toBe(false);
    expect((await copy.get('/api/session')).status).toBe(401);
  });

  it('ends for a session that another one revokes', async () => {
    const { browser: next } = dashboard;
    await logIn(next);
    const { data } = (await browser.get('/api/account/sessions')).body;
    expect(data).toHaveLength(2);
    const own = data.find(({ isCurrent }: { isCurrent: boolean }) => isCurrent);
    expect(own).toMatchObject({ address: expect.stringMatching(/^10\.1\./), userAgent: expect.any(String) });
    const [other] = data.filter(({ isCurrent }: { isCurrent: boolean }) => !isCurrent);
    expect((await browser.delete(`/api/account/sessions/${other.id}`)).status).toBe(204);
    expect((await next.get('/api/session')).status).toBe(401);
    expect(await whoIs(browser)).toBe(agent.email);
    const missing = await browser.delete(`/api/account/sessions/${other.id}`);
    expect(missing).toMatchObject({ status: 404, body: errorBody('NOT_FOUND', 'Session not found.') });
  });

  it('ends for all other sessions at once', async () => {
    const others = [dashboard.browser, dashboard.browser];
    for (const other of others) await logIn(other);
    expect((await browser.post('/api/account/sessions/revoke-others')).body).toEqual({ revoked: 2 });
    for (const other of others) expect((await other.get('/api/session')).status).toBe(401);
    expect(await whoIs(browser)).toBe(agent.email);
  });

  it('needs the new password after a change, and goes on where it was changed', async () => {
    const { browser: next } = dashboard;
    await logIn(next);
    const before = browser.cookies.get('session');
    const change = { currentPassword: PASSWORD, newPassword: OTHER_PASSWORD };
    expect((await browser.post('/api/account/password', change)).status).toBe(204);
    expect(browser.cookies.get('session')).not.toBe(before);
    expect(await whoIs(browser)).toBe(agent.email);
    expect((await next.get('/api/session')).status).toBe(401);
    expect((await logIn(dashboard.browser)).status).toBe(401);
    expect((await logIn(dashboard.browser, OTHER_PASSWORD)).status).toBe(200);
    const again = await browser.post('/api/account/password', change);
    expect(again).toMatchObject({ status: 400, body: { error: { code: 'INVALID_BODY' } } });
  });

  it('asks for the code of a second factor, and opens nothing before', async () => {
    const begun = await browser.post('/api/account/second-factor', { password: PASSWORD });
    expect(begun).toMatchObject({ status: 200, body: { uri: expect.stringContaining('otpauth://totp/') } });
    const totp = new TOTP({ secret: begun.body.secret as string });
    const confirmed = await browser.post('/api/account/second-factor/confirm', { code: totp.generate() });
    expect(confirmed.status).toBe(200);
    expect(Object.keys(confirmed.body as object)).toEqual(['recoveryCodes']);
    const recoveryCodes = confirmed.body.recoveryCodes as string[];
    expect(recoveryCodes).toHaveLength(10);
    expect((await browser.get('/api/session')).body.person.hasSecondFactor).toBe(true);

    const { browser: next } = dashboard;
    expect((await logIn(next)).body).toEqual({ status: 'second_factor' });
    expect([...next.cookies.keys()]).toEqual(['login']);
    expect((await next.get('/api/session')).status).toBe(401);
    const wrong = await next.post('/api/login/second-factor', { code: '000000' });
    expect(wrong).toMatchObject({ status: 401, body: WRONG });
    const right = await next.post('/api/login/second-factor', { code: recoveryCodes[0] });
    expect(right).toMatchObject({ status: 200, body: { status: 'done' } });
    expect([...next.cookies.keys()].sort()).toEqual(['browser', 'session']);
    expect(await whoIs(next)).toBe(agent.email);

    const given = { password: PASSWORD, code: recoveryCodes[1] };
    const renewed = await next.post('/api/account/recovery-codes', given);
    expect(renewed.body.recoveryCodes).toHaveLength(10);
    const off = { password: PASSWORD, code: renewed.body.recoveryCodes[0] };
    expect((await next.post('/api/account/second-factor/turn-off', off)).status).toBe(204);
    expect((await next.get('/api/session')).body.person.hasSecondFactor).toBe(false);
  });

  it('takes no code before a password', async () => {
    const body = errorBody('UNAUTHENTICATED', 'Log in with your password first.');
    const answer = await dashboard.browser.post('/api/login/second-factor', { code: '123456' });
    expect(answer).toMatchObject({ status: 401, body });
  });

  it('slows down who guesses, and not who has logged in before', async () => {
    const guesser = dashboard.browser;
    let last = await logIn(guesser, 'guess number 0');
    for (let n = 1; n < 40 && last.status !== 429; n++) last = await logIn(guesser, `guess number ${n}`);
    expect(last).toMatchObject({
      status: 429,
      body: { error: { code: 'RATE_LIMITED', reason: 'too_many_failed_logins' } },
    });
    expect(Number(last.headers['retry-after'])).toBeGreaterThan(0);
    await browser.post('/api/logout');
    expect((await logIn(browser)).status).toBe(200);
  });

  it('keeps what a person says of themselves', async () => {
    const changes = { name: 'Ana Berg', locale: 'de', theme: 'dark' };
    expect(await browser.patch('/api/account', changes)).toMatchObject({ status: 200, body: changes });
    expect((await browser.get('/api/session')).body.person).toMatchObject(changes);
    const bad = await browser.patch('/api/account', { locale: 'xx' });
    expect(bad).toMatchObject({ status: 400, body: { error: { details: [{ field: 'locale' }] } } });
  });

  describe('by a link', () => {
    it('says what the link is for, and works once', async () => {
      const invited = await service.make.agent({ id: agent.tenantId }, { name: 'Ben' });
      const token = await dashboard.invite(invited);
      const { browser: next } = dashboard;
      expect(await next.post('/api/links/describe', { token })).toMatchObject({
        status: 200,
        body: {
          kind: 'invitation',
          email: invited.email,
          workspaceName: 'Acme Support',
          agentName: 'Ben',
          needsPassword: true,
          needsLogin: false,
        },
      });
      const accept = { token, name: 'Ben Berg', password: PASSWORD };
      expect((await next.post('/api/links/accept', accept)).body).toEqual({ status: 'done' });
      expect((await next.get('/api/session')).body.person.name).toBe('Ben Berg');
      expect((await dashboard.browser.post('/api/links/accept', accept)).status).toBe(404);
      expect((await dashboard.browser.post('/api/links/describe', { token })).status).toBe(404);
    });

    it('refuses a bad password, and the link still works', async () => {
      const token = await dashboard.invite(await service.make.agent({ id: agent.tenantId }));
      const { browser: next } = dashboard;
      for (const password of ['short', undefined]) {
        const { status, body } = await next.post('/api/links/accept', { token, password });
        expect({ status, body }).toMatchObject({ status: 400, body: { error: { code: 'INVALID_BODY' } } });
      }
      expect((await next.post('/api/links/accept', { token, password: PASSWORD })).status).toBe(200);
    });

    it('adds a workspace to the login of the person who is logged in', async () => {
      const second = await service.make.workspace({ name: 'Second' });
      const invited = await service.make.agent(second, { email: agent.email, role: 'AGENT' });
      const token = await dashboard.invite(invited);
      expect((await browser.post('/api/links/describe', { token })).body).toMatchObject({ needsLogin: true });
      const answer = await dashboard.browser.post('/api/links/accept', { token, password: PASSWORD });
      expect(answer).toMatchObject({ status: 401, body: WRONG });
      const before = browser.cookies.get('session');
      const accepted = await browser.post('/api/links/accept', { token, password: OTHER_PASSWORD });
      expect(accepted.body).toEqual({ status: 'done' });
      expect(browser.cookies.get('session')).not.toBe(before);
      const { workspaces } = (await browser.get('/api/session')).body;
      expect(workspaces.map(({ name, role }: any) => [name, role])).toEqual([
        ['Acme Support', 'OWNER'],
        ['Second', 'AGENT'],
      ]);
    });

    it('sets a new password, made by a manager, and ends the sessions', async () => {
      const path = `/api/workspaces/${agent.tenantId}/agents`;
      const invited = await browser.post(path, { name: 'Cleo', email: 'cleo@example.com', role: 'AGENT' });
      expect(invited).toMatchObject({ status: 201, body: { isMailed: false, link: expect.any(String) } });
      const { hash, origin, pathname } = new URL(invited.body.link as string);
      expect({ origin, pathname }).toEqual({ origin: 'http://localhost:3100', pathname: '/welcome' });
      const cleo = dashboard.browser;
      await cleo.post('/api/links/accept', { token: hash.slice(1), password: PASSWORD });
      const reset = await browser.post(`${path}/${invited.body.agent.id}/password-reset`);
      const token = new URL(reset.body.link as string).hash.slice(1);
      expect((await cleo.post('/api/links/describe', { token })).body).toMatchObject({ kind: 'reset' });
      const accepted = await cleo.post('/api/links/accept', { token, password: OTHER_PASSWORD });
      expect(accepted.body).toEqual({ status: 'password_set' });
      expect((await cleo.get('/api/session')).status).toBe(401);
      expect((await logIn(cleo, OTHER_PASSWORD, 'cleo@example.com')).status).toBe(200);
    });

    it('is not mailed where no mail is sent, and says so to everybody alike', async () => {
      const answers = [agent.email, 'nobody@example.com'].map((email) =>
        dashboard.browser.post('/api/password-resets', { email }),
      );
      const [known, unknown] = await Promise.all(answers);
      expect(known!.status).toBe(403);
      expect(unknown!.body.error).toEqual({ ...known!.body.error, requestId: expect.any(String) });
    });
  });

  it('is in the audit log, with where it came from', async () => {
    await logIn(browser, PASSWORD);
    const { data } = await dashboard
      .get(AuditService)
      .list(agent.tenantId, { action: 'agent.logged_in' }, SYSTEM);
    expect(data[0]).toMatchObject({
      actorId: agent.id,
      address: expect.stringMatching(/^10\.1\./),
      userAgent: expect.stringMatching(/^axios/),
      requestId: expect.any(String),
    });
  });
});
