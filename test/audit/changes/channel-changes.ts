import { ChannelConnectionsService } from '../../../src/channels/connections/channel-connections.service';
import { ConnectionLoader, LoadedConnection } from '../../../src/channels/connections/connection-loader';
import { ConnectionChanges } from '../../../src/channels/connections/connection-changes';
import { ConnectionRegistration } from '../../../src/channels/connections/connection-registration';
import { Actor, SYSTEM } from '../../../src/access/principal';
import { Database } from '../../../src/database/database';
import { MessagingHost } from '../../support/messaging-host';
import { Subscription } from '../../support/webhook-workspace';
import { Expected, Scenario } from './scenario';

/** Scenarios that change channel connections. */
export function channelChanges(host: () => MessagingHost): Record<string, Scenario> {
  const channels = () => host().get(ChannelConnectionsService);
  const transaction: Database['transaction'] = (work) => host().get(Database).transaction(work);

  const ORIGINS = { allowedOrigins: ['https://shop.example'], showsPresence: true };
  const OTHER_ORIGINS = { allowedOrigins: ['https://other.example'], showsPresence: true };
  const connectWidget = ({ workspace }: Subscription, actor: Actor = SYSTEM) =>
    channels().connect(workspace.id, { channel: 'WIDGET', credentials: ORIGINS }, actor);
  const load = async ({ workspace }: Subscription, { id }: { id: string }): Promise<LoadedConnection> =>
    (await host().get(ConnectionLoader).load(workspace.id, id))!;
  const connectionEntry = (
    { id, externalId }: { id: string; externalId: string },
    expected: Partial<Expected>,
  ): Expected => ({
    entity: 'channel_connection',
    entityId: id,
    ...expected,
    metadata: { channel: 'WIDGET', externalId },
  });
  return {
    'channel_connection.connected': {
      method: 'ChannelConnectionsService.connect',
      permission: 'channel_connection.connect',
      prepare: (subject, actor) => async () => {
        const connected = await connectWidget(subject, actor);
        const after = { settings: ORIGINS, status: 'ACTIVE', credentialsExpireAt: null };
        return connectionEntry(connected, { after });
      },
    },
    'channel_connection.rotated': {
      method: 'ChannelConnectionsService.rotate',
      permission: 'channel_connection.rotate',
      prepare: async (subject, actor) => {
        const connected = await connectWidget(subject);
        return async () => {
          await channels().rotate(subject.workspace.id, connected.id, OTHER_ORIGINS, actor);
          const changed = { before: { settings: ORIGINS }, after: { settings: OTHER_ORIGINS } };
          return connectionEntry(connected, changed);
        };
      },
    },
    'channel_connection.renewed': {
      method: null,
      permission: null,
      isAutomatic: true,
      prepare: async (subject) => {
        const connected = await connectWidget(subject);
        const connection = await load(subject, connected);
        const checked = host().get(ConnectionRegistration).check('WIDGET', ORIGINS, connection);
        const expireAt = new Date('2031-01-01T00:00:00Z');
        return async () => {
          await transaction((tx) =>
            host()
              .get(ConnectionChanges)
              .renew(tx, connection, { ...checked, expireAt }),
          );
          const changed = {
            before: { credentialsExpireAt: null },
            after: { credentialsExpireAt: expireAt.toISOString() },
          };
          return connectionEntry(connected, changed);
        };
      },
    },
    'channel_connection.reauth_required': {
      method: null,
      permission: null,
      isAutomatic: true,
      prepare: async (subject) => {
        const connected = await connectWidget(subject);
        const connection = await load(subject, connected);
        return async () => {
          await transaction((tx) => host().get(ConnectionChanges).markReauthRequired(tx, connection));
          const changed = { before: { status: 'ACTIVE' }, after: { status: 'REAUTH_REQUIRED' } };
          return connectionEntry(connected, changed);
        };
      },
    },
    'channel_connection.disconnected': {
      method: 'ChannelConnectionsService.disconnect',
      permission: 'channel_connection.disconnect',
      prepare: async (subject, actor) => {
        const connected = await connectWidget(subject);
        return async () => {
          await channels().disconnect(subject.workspace.id, connected.id, actor);
          const changed = { before: { status: 'ACTIVE' }, after: { status: 'DISCONNECTED' } };
          return connectionEntry(connected, changed);
        };
      },
    },
  };
}
