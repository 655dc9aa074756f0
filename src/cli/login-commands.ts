import { Command } from 'commander';
import { addCommand, addWorkspaceCommand, CommandSpec } from './command';
import { option, required } from './option-values';

export function addLoginCommands(program: Command): void {
  const login = program.command('login').description('The logins of people, by their e-mail addresses.');

  addWorkspaceCommand(login, 'list', {
    does: "Lists a workspace's agents who have a login, oldest first.",
    prints: '{data: [logins]}',
    run: async ({ operatorLogins, operator }, tenantId) => ({
      data: await operatorLogins.list(tenantId, operator),
    }),
  });
  addEmailCommand(login, 'reset', {
    does: "Makes a link that sets a new password, and ends the person's sessions then. A second factor stays.",
    prints: '{isMailed, link, expiresAt}; the link only when no mail server is configured',
    run: ({ operatorLogins, operator }, { email }) => operatorLogins.sendReset(email, operator),
  });
  addEmailCommand(login, 'end-factor', {
    does: 'Turns the second factor off, for who has lost the app and the recovery codes.',
    prints: '{turnedOff}, false when it was off',
    run: async ({ operatorLogins, operator }, { email }) => ({
      turnedOff: await operatorLogins.turnOffSecondFactor(email, operator),
    }),
  });
  addEmailCommand(login, 'sessions', {
    does: "Lists a person's sessions, newest first.",
    prints: '{data: [sessions]}',
    run: async ({ operatorLogins, operator }, { email }) => ({
      data: await operatorLogins.listSessions(email, operator),
    }),
  });
  addEmailCommand(login, 'export', {
    does: 'Prints everything that is stored about a login, without secrets.',
    prints: '{person, memberships, sessions, knownBrowsers, others}',
    run: ({ operatorLogins, operator }, { email }) => operatorLogins.export(email, operator),
  });
  addEmailCommand(login, 'revoke', {
    does: "Ends a person's sessions: their next requests are refused.",
    options: [option('--session <id>', 'only this one')],
    prints: '{revoked}, the number of sessions that ended',
    run: ({ operatorLogins, operator }, { email, session }) =>
      operatorLogins.revokeSessions(email, session, operator),
  });
}

function addEmailCommand(
  login: Command,
  name: string,
  { options = [], ...others }: CommandSpec<[{ email: string; session?: string }]>,
): void {
  addCommand(login, name, {
    ...others,
    options: [required('--email <address>', 'of the login'), ...options],
    calls: [`login ${name} --email ada@example.com`],
  });
}
