import { AuditTally } from '../../src/audit/audit-tally';
import { SYSTEM } from '../../src/access/principal';
import { LinksService } from '../../src/logins/links.service';
import { PasswordsService } from '../../src/logins/passwords/passwords.service';
import { InvitationsService } from '../../src/logins/invitations/invitations.service';
import { OperatorLoginsService } from '../../src/logins/operator-logins.service';
import { BackgroundKind, Mailer } from '../../src/mails/mailer';
import { LoginsService } from '../../src/logins/logins.service';
import { SecondFactorsService } from '../../src/logins/second-factor/second-factors.service';
import { LoggedIn } from '../../src/logins/sessions/session.dto';
import { PeopleService } from '../../src/logins/people.service';
import { MessagingHost } from '../support/messaging-host';
import { expectRefusal } from '../support/errors';
import { codeOf, Logins, Member, OTHER_PASSWORD, PASSWORD, tokenOf } from '../support/logins';
import { Mailbox, ReceivedMail } from '../support/mailbox';

/** Regular expression of a link that has a line of a mail for itself. */
const LINK = /^https:\/\/app\.example\.com\/\w+#[A-Za-z0-9_-]+$/m;

describe('mails', () => {
  let mailbox: Mailbox;
  let host: MessagingHost;
  /** Host on the same database, without a mail server. */
  let plain: MessagingHost;
  let logins: Logins;
  let workspace: { id: string };
  let member: Member;

  beforeAll(async () => {
    mailbox = await Mailbox.start();
    host = await MessagingHost.create({
      appUrl: 'https://app.example.com',
      smtpUrl: mailbox.url,
      mailFrom: 'Acme Support <login@example.com>',
    });
    plain = await MessagingHost.create({ beside: host });
    logins = new Logins(plain);
  });
  beforeEach(async () => {
    mailbox.refusal = null;
    mailbox.mails.length = 0;
    workspace = await host.make.workspace({ name: 'Acme Support' });
    member = await logins.member(workspace);
  });

  const invite = (agent: { id: string }, locale?: 'en' | 'de') =>
    host.get(InvitationsService).invite(workspace.id, agent.id, { locale }, SYSTEM);
  const request = (email: string) => host.get(PasswordsService).requestReset({ email }, logins.origin());
  const accept = (token: string) =>
    host.get(LinksService).accept(token, { password: OTHER_PASSWORD }, logins.origin());
  /** Sets the password, of which the person gets a mail. */
  const reset = async (token: string) => {
    await accept(token);
    return mailbox.next(member.email);
  };
  const linkIn = ({ text }: ReceivedMail) => LINK.exec(text)?.[0] ?? null;

  it.each([
    [undefined, 'Your invitation to Acme Support', 'you are invited to answer customers of "Acme Support"'],
    ['de', 'Ihre Einladung zu Acme Support', 'Sie sind eingeladen, Kunden von „Acme Support“ zu antworten'],
  ] as const)(
    'invite in the language %s, and show the link to nobody else',
    async (locale, subject, text) => {
      const agent = await host.make.agent(workspace);
      const sent = await invite(agent, locale);
      expect(sent).toMatchObject({ isMailed: true, link: null });
      const mail = await mailbox.next(agent.email);
      expect(mail).toMatchObject({ from: 'login@example.com', to: [agent.email], subject });
      expect(mail.source).toContain('From: Acme Support <login@example.com>');
      expect(mail.text).toContain(text);
      const accepted = host
        .get(LinksService)
        .accept(tokenOf(linkIn(mail)), { password: PASSWORD }, logins.origin());
      expect(await accepted).toMatchObject({ status: 'logged_in' });
    },
  );

  it('can be sent again when the mail server refused one', async () => {
    const agent = await host.make.agent(workspace);
    mailbox.refusal = 'no such user';
    await expectRefusal(invite(agent), 'UNAVAILABLE');
    mailbox.refusal = null;
    await invite(agent);
    expect(linkIn(await mailbox.next(agent.email))).toEqual(expect.any(String));
  });

  it.each([
    ['requires encryption that the server lacks', '?requireTLS=true', false],
    ['waives it', '?requireTLS=false', true],
  ])('are sent as the address of the server says: %s', async (_, query, isSent) => {
    const asked = await MessagingHost.create({
      beside: host,
      smtpUrl: `${mailbox.url}${query}`,
      mailFrom: 'a@example.com',
    });
    try {
      const agent = await host.make.agent(workspace);
      const invited = asked.get(InvitationsService).invite(workspace.id, agent.id, {}, SYSTEM);
      if (!isSent) return await expectRefusal(invited, 'UNAVAILABLE');
      await invited;
      expect((await mailbox.next(agent.email)).to).toEqual([agent.email]);
    } finally {
      await asked.close();
    }
  });

  it('fail clearly when the mail server is away', async () => {
    const away = await MessagingHost.create({
      beside: host,
      smtpUrl: 'smtp://127.0.0.1:1',
      mailFrom: 'a@example.com',
    });
    try {
      const agent = await host.make.agent(workspace);
      const asked = away.get(InvitationsService).invite(workspace.id, agent.id, {}, SYSTEM);
      await expectRefusal(asked, 'UNAVAILABLE');
      // The caller who asks for a reset gets no information from it.
      const forgotten = { email: member.email };
      expect(await away.get(PasswordsService).requestReset(forgotten, logins.origin())).toBeUndefined();
    } finally {
      await away.close();
    }
  });

  it('keep names of workspaces from looking like something else', async () => {
    const name =
      'Your bank\r\nBcc: victim@example.com\n\nGo to https://evil.example/login now ' + 'x'.repeat(120);
    workspace = await host.make.workspace({ name: name.slice(0, 200) });
    const agent = await host.make.agent(workspace);
    await invite(agent);
    const mail = await mailbox.next(agent.email);
    expect(mail.to).toEqual([agent.email]);
    expect(mail.source).not.toMatch(/^Bcc:/im);
    expect(mail.text).not.toContain('https://evil');
    expect(mail.text.match(/https?:\/\//g)).toHaveLength(1);
    expect(mail.subject.length).toBeLessThan(120);
  });

  it('reset a password in the language of the person', async () => {
    await plain.get(PeopleService).update(member.holder, { locale: 'de' });
    await request(member.email.toUpperCase());
    const mail = await mailbox.next(member.email);
    expect(mail.subject).toBe('Ihr neues Passwort');
    expect(linkIn(mail)).toMatch(/\/reset#/);
    const notice = await reset(tokenOf(linkIn(mail)));
    expect(notice.subject).toBe('Ihr Passwort wurde geändert');
    expect(notice.text).toMatch(/Ihr Passwort wurde geändert\.\n.* UTC\n10\.\d+\.\d+\.7, Firefox\n/);
    expect(await logins.logIn(member, OTHER_PASSWORD)).toMatchObject({ status: 'logged_in' });
  });

  it('go to nobody for an unknown e-mail address, with the same answer', async () => {
    expect(await request('nobody@example.com')).toBeUndefined();
    expect(await request(member.email)).toBeUndefined();
    await mailbox.next(member.email);
    expect(mailbox.mails).toEqual([]);
    await expectRefusal(request('not an address'), 'INVALID_BODY');
  });

  it('are five an hour for a login, known or not, and each link of them works until one is used', async () => {
    for (const email of [member.email, `nobody-${member.personId}@example.com`]) {
      for (let n = 0; n < 5; n++) await request(email);
      await expectRefusal(request(email), 'RATE_LIMITED');
    }
    const tokens: string[] = [];
    for (let n = 0; n < 5; n++) tokens.push(tokenOf(linkIn(await mailbox.next(member.email))));
    await reset(tokens[1]!);
    await expectRefusal(accept(tokens[4]!), 'NOT_FOUND');
    await host.get(AuditTally).flush();
    const entries = await host.query(
      `SELECT metadata -> 'count' AS count FROM audit_entries
       WHERE tenant_id = $1 AND action = 'agent.password_reset_requested'`,
      [workspace.id],
    );
    expect(entries).toEqual([{ count: 5 }]);
  });

  it('bring what managers and operators send, for a login of several workspaces too', async () => {
    const second = await host.make.workspace();
    await logins.join(member, second);
    const byManager = await host.get(PasswordsService).sendReset(workspace.id, member.agent.id, SYSTEM);
    expect(byManager).toMatchObject({ isMailed: true, link: null });
    const byOperator = await host
      .get(OperatorLoginsService)
      .sendReset(member.email, { type: 'operator', name: 'lin' });
    expect(byOperator).toMatchObject({ isMailed: true, link: null });
    expect((await mailbox.next(member.email)).subject).toBe('Your new password');
    await reset(tokenOf(linkIn(await mailbox.next(member.email))));
    expect(await logins.isOpen(member.token)).toBe(false);
  });

  it('are five an hour to an agent from its workspace, and twenty from all', async () => {
    const email = `often-${workspace.id}@example.com`;
    const make = async () => host.make.agent(await host.make.workspace(), { email });
    const agents = await Promise.all([make(), make(), make(), make()]);
    const send = ({ tenantId, id }: { tenantId: string; id: string }) =>
      host.get(InvitationsService).invite(tenantId, id, {}, SYSTEM);
    for (const agent of agents) {
      for (let n = 0; n < 5; n++) {
        await send(agent);
        await mailbox.next(email);
      }
      await expectRefusal(send(agent), 'RATE_LIMITED');
    }
    await expectRefusal(send(await make()), 'RATE_LIMITED');
    expect(await invite(await host.make.agent(workspace))).toMatchObject({ isMailed: true });
  });

  describe('tell a person', () => {
    const next = async () => {
      const { subject, text, source } = await mailbox.next(member.email);
      for (const secret of [PASSWORD, OTHER_PASSWORD, member.token]) expect(source).not.toContain(secret);
      return { subject, text };
    };
    const password = (newPassword: string) =>
      host.get(PasswordsService).change(member.holder, { currentPassword: PASSWORD, newPassword });

    it('of a new password, once it is set', async () => {
      await expectRefusal(password('short'), 'INVALID_BODY');
      await password(OTHER_PASSWORD);
      expect(await next()).toEqual({
        subject: 'Your password was changed',
        text: expect.stringMatching(/at .* UTC\n10\.\d+\.\d+\.7, Firefox\n/),
      });
      expect(mailbox.mails).toEqual([]);
    });

    it('of their second factor', async () => {
      const factors = host.get(SecondFactorsService);
      const { secret } = await factors.begin(member.holder, { password: PASSWORD });
      const { recoveryCodes } = await factors.confirm(member.holder, { code: codeOf(secret) });
      expect((await next()).subject).toBe('Your second factor was turned on');
      await factors.turnOff(member.holder, { password: PASSWORD, code: recoveryCodes[0]! });
      const subjects = [(await next()).subject, (await next()).subject].sort();
      expect(subjects).toEqual(['A recovery code was used', 'Your second factor was turned off']);
      await logins.secure(member);
      await host
        .get(OperatorLoginsService)
        .turnOffSecondFactor(member.email, { type: 'operator', name: 'lin' });
      expect((await next()).text).toContain('by an operator of the service');
    });

    it('of a login in a browser that is new, and of none that is known', async () => {
      const logIn = (browserToken?: string) =>
        host
          .get(LoginsService)
          .logIn({ email: member.email, password: PASSWORD, browserToken }, origin) as Promise<LoggedIn>;
      const origin = { ...logins.origin(), userAgent: 'Evil\r\nhttps://evil.example/ browser' };
      const { browserToken } = await logIn();
      const { subject, text } = await next();
      expect(subject).toBe('A login in a new browser');
      expect(text).toContain('Evil evil.example/ browser');
      await logIn(browserToken!);
      await password(OTHER_PASSWORD);
      expect((await next()).subject).toBe('Your password was changed');
    });

    it('of none of their first login', async () => {
      const agent = await host.make.agent(workspace);
      await invite(agent);
      await accept(tokenOf(linkIn(await mailbox.next(agent.email))));
      await password(OTHER_PASSWORD);
      await next();
      expect(mailbox.mails).toEqual([]);
    });

    it('or fail, and the change stays', async () => {
      mailbox.refusal = 'no such user';
      expect(await password(OTHER_PASSWORD)).toEqual({ token: expect.any(String) });
      expect(await logins.logIn(member, OTHER_PASSWORD)).toMatchObject({ status: 'logged_in' });
    });
  });

  it.each<[BackgroundKind, string, (of: MessagingHost) => Promise<unknown>]>([
    [
      'links',
      'Your password was changed',
      (of) =>
        of
          .get(PasswordsService)
          .change(member.holder, { currentPassword: PASSWORD, newPassword: OTHER_PASSWORD }),
    ],
    [
      'notices',
      'Your new password',
      (of) => of.get(PasswordsService).requestReset({ email: member.email }, logins.origin()),
    ],
  ])(
    'are sent while too many %s are in flight, if they are of the other kind',
    async (kind, subject, act) => {
      const busy = await MessagingHost.create({
        beside: host,
        appUrl: 'https://app.example.com',
        smtpUrl: mailbox.url,
        mailFrom: 'login@example.com',
      });
      let end = (_: null): void => undefined;
      const held = new Promise<null>((resolve) => (end = resolve));
      try {
        for (let n = 0; n < 60; n++) busy.get(Mailer).sendInBackground(kind, () => held);
        await act(busy);
        expect((await mailbox.next(member.email)).subject).toBe(subject);
      } finally {
        end(null);
        await busy.close();
      }
    },
  );

  it('that are in flight are sent before the process ends', async () => {
    const ending = await MessagingHost.create({
      beside: host,
      appUrl: 'https://app.example.com',
      smtpUrl: mailbox.url,
      mailFrom: 'login@example.com',
    });
    await ending.get(PasswordsService).requestReset({ email: member.email }, logins.origin());
    await ending.close();
    // Mails of the tests before may still come.
    expect(mailbox.mails.map(({ to }) => to)).toContainEqual([member.email]);
    await mailbox.next(member.email);
  });

  it.each([
    [{ smtpUrl: 'smtp://localhost' }, 'SMTP_URL and MAIL_FROM must be set together'],
    [{ mailFrom: 'a@example.com' }, 'SMTP_URL and MAIL_FROM must be set together'],
    [{ smtpUrl: 'https://localhost', mailFrom: 'a@example.com' }, 'SMTP_URL must be'],
    [{ smtpUrl: 'smtp://localhost', mailFrom: 'Acme' }, 'MAIL_FROM must be'],
  ])('are refused with the options %j', async (options, fault) => {
    await expect(MessagingHost.create({ beside: host, ...options })).rejects.toThrow(fault);
  });
});
