import { Command } from 'commander';
import { addListCommand, example, withServices } from './command';

interface EmailOptions {
  email: string;
}

interface RevokeOptions extends EmailOptions {
  session?: string;
}

export function addLoginCommands(program: Command): void {
  const login = program.command('login').description('The logins of people, by their e-mail addresses.');

  addListCommand(login, {
    does: "Lists a workspace's agents who have a login, oldest first.",
    things: 'logins',
    run: ({ operatorLogins, operator }, tenantId) => operatorLogins.list(tenantId, operator),
  });

  withEmail(login.command('reset'))
    .description(
      "Makes a link that sets a new password, and ends the person's sessions then. A second factor stays.",
    )
    .addHelpText(
      'after',
      example(
        '{isMailed, link, expiresAt}; the link only when no mail server is configured',
        'login reset --email ada@example.com',
      ),
    )
    .action(
      withServices(({ operatorLogins, operator }, { email }: EmailOptions) =>
        operatorLogins.sendReset(email, operator),
      ),
    );

  withEmail(login.command('end-factor'))
    .description('Turns the second factor off, for who has lost the app and the recovery codes.')
    .addHelpText(
      'after',
      example('{turnedOff}, false when it was off', 'login end-factor --email ada@example.com'),
    )
    .action(
      withServices(async ({ operatorLogins, operator }, { email }: EmailOptions) => ({
        turnedOff: await operatorLogins.turnOffSecondFactor(email, operator),
      })),
    );

  withEmail(login.command('sessions'))
    .description("Lists a person's sessions, newest first.")
    .addHelpText('after', example('{data: [sessions]}', 'login sessions --email ada@example.com'))
    .action(
      withServices(async ({ operatorLogins, operator }, { email }: EmailOptions) => ({
        data: await operatorLogins.listSessions(email, operator),
      })),
    );

  withEmail(login.command('export'))
    .description('Prints everything that is stored about a login, without secrets.')
    .addHelpText(
      'after',
      example('{person, memberships, sessions, knownBrowsers}', 'login export --email ada@example.com'),
    )
    .action(
      withServices(({ operatorLogins, operator }, { email }: EmailOptions) =>
        operatorLogins.export(email, operator),
      ),
    );

  withEmail(login.command('revoke'))
    .description("Ends a person's sessions: their next requests are refused.")
    .option('--session <id>', 'only this one')
    .addHelpText(
      'after',
      example('{revoked}, the number of sessions that ended', 'login revoke --email ada@example.com'),
    )
    .action(
      withServices(({ operatorLogins, operator }, { email, session }: RevokeOptions) =>
        operatorLogins.revokeSessions(email, session, operator),
      ),
    );
}

function withEmail(command: Command): Command {
  return command.requiredOption('--email <address>', 'of the login');
}
