import { IsIn, IsObject } from 'class-validator';
import { type Channel, CHANNELS } from '../../common/channel-descriptors';
import { IsOpaque } from '../../common/validators';
import { ChannelConnectionEntity } from './channel-connection.entity';

export class ConnectChannel {
  @IsIn(CHANNELS, { message: `must be one of ${CHANNELS.join(', ')}` })
  channel: Channel;

  /** Credentials of the channel, such as `{botToken}` for TELEGRAM; `docs/how-to/channels.md` lists them. */
  @IsOpaque()
  @IsObject({ message: 'must be an object' })
  credentials: object;
}

export interface ConnectionAddresses {
  /** URL that the provider calls. For the widget, the base URL of its routes. */
  hookUrl: string;
  /** HTML that shows the widget in the workspace's pages; null for other channels. */
  snippet: string | null;
}

export type ChannelConnectionSummary = ConnectionAddresses &
  Omit<
    ChannelConnectionEntity,
    'tenantId' | 'hookKey' | 'credentialsCiphertext' | 'credentialsKeyId' | 'pausedUntil' | 'failedReplies'
  >;

/** HTML and token for a preview of a widget in a sandboxed page, which has no origin. */
export interface WidgetPreview {
  snippet: string;
  token: string;
}

export type ConnectedChannel = ChannelConnectionSummary & {
  /** Values that the operator must enter at the provider, such as a verify token. Returned only once. */
  reveal: Record<string, string>;
};

export type DisconnectedChannel = ChannelConnectionSummary & {
  /** Reason why the hook could not be removed at the provider; null if it was removed. */
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
