import { LinksService } from '../../src/logins/links.service';
import { LoggedIn } from '../../src/logins/sessions/session.dto';
import { MessagingHost } from '../support/messaging-host';
import { OTHER_PASSWORD, PASSWORD, tokenOf } from '../support/logins';
import { ISO_TIME, NOWHERE, TestCli } from '../support/test-cli';

jest.setTimeout(90_000);

let cli: TestCli;

beforeAll(async () => {
  cli = await TestCli.start();
});

describe('login', () => {
  it('begins with an invitation, and is listed, reset and ended by the operator', async () => {
    await cli.call('workspace', 'create', '--name', 'Logins', '--slug', 'logins', '--plan', 'PRO');
    const agent = await cli.call(
      ...['agent', 'create', '--workspace', 'logins', '--name', 'Ada', '--email', 'Ada@logins.example'],
      ...['--role', 'OWNER'],
    );
    const sent = await cli.call('agent', 'invite', '--workspace', 'logins', '--agent', agent.id);
    expect(sent).toEqual({
      invitation: expect.objectContaining({ agentId: agent.id, email: 'Ada@logins.example', role: 'OWNER' }),
      isMailed: false,
      link: expect.stringMatching(/^http:\/\/localhost:3000\/welcome#[A-Za-z0-9_-]{64}$/),
      expiresAt: ISO_TIME,
    });
    expect(await cli.call('login', 'list', '--workspace', 'logins')).toEqual({ data: [] });

    const host = await MessagingHost.create({ beside: cli });
    try {
      const token = tokenOf(sent.link);
      const accepted = await host.get(LinksService).accept(token, { password: PASSWORD });
      const { sessionId } = accepted as LoggedIn;
      expect(await cli.call('login', 'list', '--workspace', 'logins')).toEqual({
        data: [
          {
            agentId: agent.id,
            email: 'ada@logins.example',
            role: 'OWNER',
            active: true,
            hasSecondFactor: false,
            lastLoggedInAt: ISO_TIME,
          },
        ],
      });
      const ofAda = ['--email', 'ada@Logins.example'];
      expect(await cli.call('login', 'sessions', ...ofAda)).toMatchObject({ data: [{ id: sessionId }] });
      expect(await cli.call('login', 'revoke', ...ofAda, '--session', sessionId)).toEqual({ revoked: 1 });
      expect(await cli.call('login', 'revoke', ...ofAda)).toEqual({ revoked: 0 });
      expect(await cli.call('login', 'end-factor', ...ofAda)).toEqual({ turnedOff: false });
      const reset = await cli.call('login', 'reset', ...ofAda);
      expect(reset).toEqual({
        isMailed: false,
        link: expect.stringContaining('/reset#'),
        expiresAt: ISO_TIME,
      });
      await host.get(LinksService).accept(tokenOf(reset.link), { password: OTHER_PASSWORD });
    } finally {
      await host.close();
    }
  });

  it('is not found by another e-mail address, and no agent of another id is invited', async () => {
    for (const command of ['reset', 'end-factor', 'sessions', 'revoke'])
      expect(await cli.refusal('login', command, '--email', 'nobody@example.com')).toMatchObject({
        code: 'NOT_FOUND',
        message: 'Login not found.',
      });
    expect(await cli.refusal('agent', 'invite', '--workspace', 'acme', '--agent', NOWHERE)).toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});
