import { Command } from 'commander';
import { type Channel, CHANNELS, describeChannel } from '../common/channel-descriptors';
import { addListCommand, example, inWorkspace, withServices } from './command';
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

const credentialRows = CHANNELS.map(
  (channel) => `  ${channel.padEnd(10)} ${describeChannel(channel).credentials}`,
);

const CREDENTIALS = `
Credentials are one JSON object: in the argument, as @file, or as - on stdin, which keeps them out of the shell's
history. The fields of each channel, [optional] in brackets:
${credentialRows.join('\n')}
docs/how-to/channels.md shows where to find each.
`;

export function addChannelCommands(program: Command): void {
  const channel = program
    .command('channel')
    .description("A workspace's accounts at the channels' providers.");

  channel
    .command('connect')
    .description(
      'Connects an account, and registers its hook at the provider. Stores nothing if the provider refuses.',
    )
    .requiredOption('--workspace <slug>', 'the workspace')
    .requiredOption('--channel <channel>', CHANNELS.join(', '), channelName)
    .requiredOption('--credentials <json>', 'JSON, @file, or - for stdin', credentials)
    .addHelpText(
      'after',
      CREDENTIALS +
        example(
          '{id, channel, externalId, status, hookUrl, snippet, settings, reveal, …}; reveal is printed only once',
          'channel connect --workspace acme --channel TELEGRAM --credentials @bot.json',
        ),
    )
    .action(
      inWorkspace<ConnectOptions>(({ channelConnections, operator }, tenantId, given) =>
        channelConnections.connect(tenantId, given, operator),
      ),
    );

  addListCommand(channel, {
    does: 'Lists the connections of a workspace, newest first.',
    things: 'connections',
    run: ({ channelConnections, operator }, tenantId) => channelConnections.list(tenantId, operator),
  });

  addChangeCommands(channel);
}

function addChangeCommands(channel: Command): void {
  channel
    .command('rotate')
    .description('Replaces the credentials of the same account.')
    .requiredOption('--id <id>', 'the connection')
    .requiredOption('--credentials <json>', 'JSON, @file, or - for stdin', credentials)
    .addHelpText(
      'after',
      CREDENTIALS +
        example(
          'the connection; reveal holds the values to enter at the provider',
          'channel rotate --id <id> --credentials - < bot.json',
        ),
    )
    .action(
      withServices(
        async ({ lookup, channelConnections, operator }, { id, credentials: given }: RotateOptions) => {
          const tenantId = await lookup.findWorkspaceId('Channel connection', id);
          return channelConnections.rotate(tenantId, id, given, operator);
        },
      ),
    );

  channel
    .command('disconnect')
    .description('Ends a connection: its waiting outbound messages fail, and its hook refuses requests.')
    .requiredOption('--id <id>', 'the connection')
    .addHelpText(
      'after',
      example(
        'the connection; providerFault holds the error if the provider could not be notified',
        'channel disconnect --id <id>',
      ),
    )
    .action(
      withServices(async ({ lookup, channelConnections, operator }, { id }: { id: string }) =>
        channelConnections.disconnect(await lookup.findWorkspaceId('Channel connection', id), id, operator),
      ),
    );
}
