import { Command } from 'commander';
import type { Channel } from '../common/channel';
import { SYSTEM } from '../common/principal';
import { addListCommand, withServices } from './command';
import { channel as channelName, credentials } from './option-values';

interface ConnectOptions {
  workspace: string;
  channel: Channel;
  credentials: object;
}

interface RotateOptions {
  id: string;
  credentials: object;
}

const CREDENTIALS = `
Credentials are one JSON object: in the argument itself, as @file, or as - on stdin, which keeps them out of the
shell's history. What each channel asks for, [optional] in brackets:
  TELEGRAM   botToken
  WHATSAPP   phoneNumberId, accessToken, appSecret, [verifyToken]
  MESSENGER  pageId, accessToken, appSecret, [verifyToken]
  INSTAGRAM  accountId, accessToken, appSecret, [facebookAppSecret], [verifyToken]
  WIDGET     allowedOrigins, a list; when rotated also [keepIdentitySecret], true or false
docs/channels.md says where each is found.
`;

export function addChannelCommands(program: Command): void {
  const channel = program
    .command('channel')
    .description("A workspace's accounts at the channels' providers.");

  channel
    .command('connect')
    .description(
      'Connects an account, and has its provider send to us. Nothing is kept if the provider refuses.',
    )
    .requiredOption('--workspace <slug>', 'whose channel')
    .requiredOption('--channel <channel>', 'WIDGET, WHATSAPP, TELEGRAM, MESSENGER or INSTAGRAM', channelName)
    .requiredOption('--credentials <json>', 'JSON, @file, or - for stdin', credentials)
    .addHelpText(
      'after',
      `${CREDENTIALS}
Example:
  node dist/cli.js channel connect --workspace acme --channel TELEGRAM --credentials @bot.json

Prints {id, channel, externalId, status, hookUrl, settings, reveal, …}; reveal is printed this once.`,
    )
    .action(
      withServices(async ({ workspaces, channelConnections }, { workspace, ...given }: ConnectOptions) => {
        const { id } = await workspaces.getBySlug(workspace);
        return channelConnections.connect(id, given, SYSTEM);
      }),
    );

  addListCommand(channel, {
    does: 'Lists the connections of a workspace, newest first.',
    things: 'connections',
    run: ({ channelConnections }, tenantId) => channelConnections.list(tenantId),
  });

  addChangeCommands(channel);
}

function addChangeCommands(channel: Command): void {
  channel
    .command('rotate')
    .description('Puts new credentials of the same account in the place of the old ones.')
    .requiredOption('--id <id>', 'which connection')
    .requiredOption('--credentials <json>', 'JSON, @file, or - for stdin', credentials)
    .addHelpText(
      'after',
      `${CREDENTIALS}
Example:
  node dist/cli.js channel rotate --id <id> --credentials - < bot.json

Prints the connection, with what is to be entered elsewhere in reveal.`,
    )
    .action(
      withServices(async ({ lookup, channelConnections }, { id, credentials: given }: RotateOptions) => {
        const tenantId = await lookup.tenantOf('Channel connection', id);
        return channelConnections.rotate(tenantId, id, given, SYSTEM);
      }),
    );

  channel
    .command('disconnect')
    .description('Ends a connection at once: replies that wait for it fail, and its provider is refused.')
    .requiredOption('--id <id>', 'which connection')
    .addHelpText(
      'after',
      `
Example:
  node dist/cli.js channel disconnect --id <id>

Prints the connection; providerFault says why its provider could not be told, if so.`,
    )
    .action(
      withServices(async ({ lookup, channelConnections }, { id }: { id: string }) =>
        channelConnections.disconnect(await lookup.tenantOf('Channel connection', id), id, SYSTEM),
      ),
    );
}
