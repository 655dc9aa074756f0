import { IsIn, IsObject } from 'class-validator';
import { type Channel, CHANNELS } from '../../common/channel-descriptors';
import { IsOpaque } from '../../common/validators';
import { ChannelConnectionEntity } from './channel-connection.entity';

export class ConnectChannel {
  @IsIn(CHANNELS, { message: `must be one of ${CHANNELS.join(', ')}` })
  channel: Channel;

  /** Credentials of the channel, such as `{botToken}` of TELEGRAM: see `docs/how-to/channels.md`. */
  @IsOpaque()
  @IsObject({ message: 'must be an object' })
  credentials: object;
}

export interface ConnectionAddresses {
  /** Address that the provider calls; for the widget the base of its paths. */
  hookUrl: string;
  /** The HTML that shows the widget in the workspace's pages; null for the other channels. */
  snippet: string | null;
}

/** Connection as the dashboard shows it. */
export type ChannelConnectionSummary = ConnectionAddresses &
  Omit<
    ChannelConnectionEntity,
    'tenantId' | 'hookKey' | 'credentialsCiphertext' | 'credentialsKeyId' | 'pausedUntil'
  >;

/** Parts of a page in a sandbox that holds a widget. */
export interface WidgetPreview {
  snippet: string;
  token: string;
}

/** Result of connecting an account or of replacing its credentials. */
export type ConnectedChannel = ChannelConnectionSummary & {
  /** Values that the operator enters elsewhere, such as a verify token. They are returned once. */
  reveal: Record<string, string>;
};

export type DisconnectedChannel = ChannelConnectionSummary & {
  /** Reason why the hook is still registered at the provider, whose calls are refused; null if it is not. */
  providerFault: string | null;
};

export function toConnectionSummary(
  connection: ChannelConnectionEntity,
  addresses: ConnectionAddresses,
): ChannelConnectionSummary {
  const { id, channel, externalId, status, settings, credentialsExpireAt } = connection;
  const { lastReceivedAt, createdAt, updatedAt } = connection;
  const account = { id, channel, externalId, status, ...addresses, settings };
  return { ...account, credentialsExpireAt, lastReceivedAt, createdAt, updatedAt };
}
