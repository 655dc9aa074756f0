import { Command } from 'commander';
import type { ConnectChannel } from '../channels/connections/channel-connection.dto';
import { CHANNELS, describeChannel } from '../common/channel-descriptors';
import { addThingCommand, addWorkspaceCommand } from './command';
import { channel as channelName, credentials, required } from './option-values';

const credentialRows = CHANNELS.map(
  (channel) => `  ${channel.padEnd(10)} ${describeChannel(channel).credentials}`,
);

const CREDENTIALS = `
Credentials are one JSON object: in the argument, as @file, or as - on stdin, which keeps them out of the shell's
history. The fields of each channel, [optional] in brackets:
${credentialRows.join('\n')}
docs/how-to/channels.md shows where to find each.
`;
const CREDENTIALS_OPTION = required('--credentials <json>', 'JSON, @file, or - for stdin', credentials);

export function addChannelCommands(program: Command): void {
  const group = program.command('channel').description("A workspace's accounts at the channels' providers.");

  addWorkspaceCommand(group, 'connect', {
    does: 'Connects an account, and registers its hook at the provider. Stores nothing if the provider refuses.',
    options: [required('--channel <channel>', CHANNELS.join(', '), channelName), CREDENTIALS_OPTION],
    note: CREDENTIALS,
    prints:
      '{id, channel, externalId, status, hookUrl, snippet, settings, reveal, …}; reveal is printed only once',
    calls: ['channel connect --workspace acme --channel TELEGRAM --credentials @bot.json'],
    run: ({ channelConnections, operator }, tenantId, given: ConnectChannel) =>
      channelConnections.connect(tenantId, given, operator),
  });
  addWorkspaceCommand(group, 'list', {
    does: 'Lists the connections of a workspace, newest first.',
    prints: '{data: [connections]}',
    run: async ({ channelConnections, operator }, tenantId) => ({
      data: await channelConnections.list(tenantId, operator),
    }),
  });
  addThingCommand(group, 'rotate', 'Channel connection', {
    does: 'Replaces the credentials of the same account.',
    options: [CREDENTIALS_OPTION],
    note: CREDENTIALS,
    prints: 'the connection; reveal holds the values to enter at the provider',
    calls: ['channel rotate --id <id> --credentials - < bot.json'],
    run: ({ channelConnections, operator }, tenantId, id, given: Pick<ConnectChannel, 'credentials'>) =>
      channelConnections.rotate(tenantId, id, given.credentials, operator),
  });
  addThingCommand(group, 'disconnect', 'Channel connection', {
    does: 'Ends a connection: its waiting outbound messages fail, and its hook refuses requests.',
    prints: 'the connection; providerFault holds the error if the provider could not be notified',
    run: ({ channelConnections, operator }, tenantId, id) =>
      channelConnections.disconnect(tenantId, id, operator),
  });
}
