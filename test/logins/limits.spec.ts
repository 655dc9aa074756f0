import { Origin } from '../../src/access/principal';
import { LoggedIn, SecondFactorRequired } from '../../src/logins/sessions/session.dto';
import { LoginsService } from '../../src/logins/logins.service';
import { PasswordsService } from '../../src/logins/passwords/passwords.service';
import { countedByHost } from '../support/counted-in-redis';
import { MessagingHost } from '../support/messaging-host';
import { expectRefusal } from '../support/errors';
import { codeOf, Logins, Member, OTHER_PASSWORD, PASSWORD } from '../support/logins';

const WRONG = 'Some other password';
/**
 * Number of wrong passwords that an account may have in a quarter of an hour, from browsers that are not
 * known.
 */
const OF_ACCOUNT = 10;
/** Number of wrong passwords that a network may send, for any accounts. */
const OF_NETWORK = 30;

describe.each([
  ['in Redis', true, {}],
  ['in memory, while Redis is away', false, { redisUrl: 'redis://127.0.0.1:1' }],
])('guesses are limited %s', (_, isInRedis, options) => {
  let host: MessagingHost;
  let logins: Logins;
  let member: Member;

  beforeAll(async () => {
    host = await MessagingHost.create(options);
    logins = new Logins(host);
  });
  afterAll(() => host.close());

  /** Returns a test that is made with a member of its own, and again if Redis has answered late. */
  const counted = (attempt: (number: number) => Promise<void>) => async () => {
    const attemptOnce = async (number: number) => {
      member = await logins.member(await host.make.workspace());
      await attempt(number);
    };
    await (isInRedis ? countedByHost(host, attemptOnce) : attemptOnce(0));
  };

  async function guess(count: number, who: { email: string } = member, origin?: Origin): Promise<void> {
    for (let n = 0; n < count; n++)
      await expectRefusal(logins.logIn(who, WRONG, origin && { origin }), 'UNAUTHENTICATED');
  }

  it(
    'by account, from wherever they come, and say when to retry',
    counted(async () => {
      await guess(OF_ACCOUNT);
      const refused = await logins.logIn(member).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: expect.any(Number) });
      const { retryAfterSeconds } = refused as { retryAfterSeconds: number };
      expect(retryAfterSeconds).toBeGreaterThan(0);
      expect(retryAfterSeconds).toBeLessThanOrEqual(15 * 60);
      // Another case of the address does not evade the limit, and another account is not affected.
      await expectRefusal(logins.logIn({ email: member.email.toUpperCase() }), 'RATE_LIMITED');
      const other = await logins.member(await host.make.workspace());
      expect(await logins.logIn(other)).toMatchObject({ status: 'logged_in' });
    }),
  );

  it(
    'for an unknown e-mail address as for a known one',
    counted(async () => {
      const nobody = { email: `nobody-${member.personId}@example.com` };
      await guess(OF_ACCOUNT, nobody);
      await expectRefusal(logins.logIn(nobody, WRONG), 'RATE_LIMITED');
    }),
  );

  it(
    'at once as one after the other',
    counted(async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 15 }, () =>
          logins.logIn(member, WRONG).catch((error: { code: string }) => error),
        ),
      );
      const codes = outcomes.map((outcome) => (outcome as { code: string }).code);
      expect(codes.filter((code) => code === 'UNAUTHENTICATED')).toHaveLength(OF_ACCOUNT);
      expect(codes.filter((code) => code === 'RATE_LIMITED')).toHaveLength(5);
    }),
  );

  it(
    'without locking out a browser that has logged in before',
    counted(async () => {
      const browserToken = member.browserToken!;
      await guess(OF_ACCOUNT);
      await expectRefusal(logins.logIn(member), 'RATE_LIMITED');
      const again = (await logins.logIn(member, PASSWORD, { browserToken })) as LoggedIn;
      expect(again).toMatchObject({ status: 'logged_in', browserToken: null });
    }),
  );

  it(
    'in a known browser too, by a count of its own',
    counted(async () => {
      const browserToken = member.browserToken!;
      for (let n = 0; n < OF_ACCOUNT; n++)
        await expectRefusal(logins.logIn(member, WRONG, { browserToken }), 'UNAUTHENTICATED');
      await expectRefusal(logins.logIn(member, PASSWORD, { browserToken }), 'RATE_LIMITED');
      expect(await logins.logIn(member)).toMatchObject({ status: 'logged_in' });
    }),
  );

  it.each(['A'.repeat(43), 'nonsense'])('with the browser token %s as without one', (browserToken) =>
    counted(async () => {
      await guess(OF_ACCOUNT);
      await expectRefusal(logins.logIn(member, PASSWORD, { browserToken }), 'RATE_LIMITED');
    })(),
  );

  it(
    "with another person's browser token as without one",
    counted(async () => {
      const { browserToken } = await logins.member(await host.make.workspace());
      await guess(OF_ACCOUNT);
      await expectRefusal(logins.logIn(member, PASSWORD, { browserToken: browserToken! }), 'RATE_LIMITED');
    }),
  );

  it(
    'by network: an IPv4 address, or a /64',
    counted(async () => {
      const prefix = `2001:db8:${(Date.now() & 0xffff).toString(16)}:${(process.pid & 0xffff).toString(16)}`;
      for (let n = 0; n < OF_NETWORK; n++) {
        const origin = { address: `${prefix}::${n.toString(16)}` };
        await guess(1, { email: `n${n}-${member.personId}@example.com` }, origin);
      }
      const same = { address: `${prefix}:ffff::1` };
      await expectRefusal(logins.logIn(member, PASSWORD, { origin: same }), 'RATE_LIMITED');
      // The account's owner gets in from there with a known browser, and from elsewhere without.
      const browserToken = member.browserToken!;
      expect(await logins.logIn(member, PASSWORD, { origin: same, browserToken })).toMatchObject({
        status: 'logged_in',
      });
      expect(await logins.logIn(member)).toMatchObject({ status: 'logged_in' });
    }),
  );

  it.each([
    ['/56', 4, (n: number) => `5600:${(n & 0xff).toString(16)}`, '5600:100'],
    ['/48', 8, (n: number) => `4800:${(n << 8).toString(16)}`, '4801:0'],
  ])(
    'by the %s of IPv6, %d times as many',
    (_prefix, factor, networkOf, elsewhere) =>
      counted(async (number) => {
        const from = (network: string) => ({
          origin: { address: `2001:${(0xdb8 + number).toString(16)}:${network}::1` },
        });
        for (let n = 0; n < factor * OF_NETWORK; n++) {
          const nobody = { email: `n${n}-${number}-${member.personId}@example.com` };
          await guess(1, nobody, from(networkOf(n % 200)).origin);
        }
        await expectRefusal(logins.logIn(member, PASSWORD, from(networkOf(201))), 'RATE_LIMITED');
        expect(await logins.logIn(member, PASSWORD, from(elsewhere))).toMatchObject({ status: 'logged_in' });
      })(),
    120_000,
  );

  it(
    'of codes: five for a password, and ten an hour for a person',
    counted(async () => {
      const { secret, ...secured } = await logins.secure(member);
      const confirm = ({ pendingToken }: SecondFactorRequired, code: string) =>
        host.get(LoginsService).confirmSecondFactor({ pendingToken, code }, logins.origin());
      const begin = async () => (await logins.logIn(secured)) as SecondFactorRequired;
      const first = await begin();
      for (let n = 0; n < 5; n++) await expectRefusal(confirm(first, '000000'), 'UNAUTHENTICATED');
      // The right code comes too late for this login.
      await expectRefusal(confirm(first, codeOf(secret)), 'UNAUTHENTICATED');
      const second = await begin();
      for (let n = 0; n < 4; n++) await expectRefusal(confirm(second, '000000'), 'UNAUTHENTICATED');
      await expectRefusal(confirm(second, 'recovery-code'), 'UNAUTHENTICATED');
      await expectRefusal(confirm(await begin(), codeOf(secret)), 'RATE_LIMITED');
    }),
  );

  it(
    'of the own password, by session',
    counted(async () => {
      const change = (currentPassword: string) =>
        host.get(PasswordsService).change(member.holder, { currentPassword, newPassword: OTHER_PASSWORD });
      for (let n = 0; n < OF_ACCOUNT; n++) await expectRefusal(change(WRONG), 'INVALID_BODY');
      await expectRefusal(change(PASSWORD), 'RATE_LIMITED');
    }),
  );
});

describe('right passwords', () => {
  let host: MessagingHost;

  beforeAll(async () => {
    host = await MessagingHost.create();
  });
  afterAll(() => host.close());

  it('count as no guesses, and clear none of others', async () => {
    const logins = new Logins(host);
    const member = await logins.member(await host.make.workspace());
    const origin = logins.origin();
    for (let n = 0; n < OF_NETWORK + 5; n++)
      expect(await logins.logIn(member, PASSWORD, { origin })).toMatchObject({ status: 'logged_in' });
    // A guesser can't clear the count of the network by logging in to an account of their own.
    for (let n = 0; n < OF_NETWORK; n++) {
      await expectRefusal(
        logins.logIn({ email: `n${n}-${member.personId}@example.com` }, WRONG, { origin }),
        'UNAUTHENTICATED',
      );
      if (n < OF_NETWORK - 1) await logins.logIn(member, PASSWORD, { origin });
    }
    await expectRefusal(logins.logIn(member, PASSWORD, { origin }), 'RATE_LIMITED');
  });
});
