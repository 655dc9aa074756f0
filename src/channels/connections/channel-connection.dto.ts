import { IsIn, IsObject } from 'class-validator';
import { type Channel, CHANNELS } from '../../common/channel-descriptors';
import { ChannelConnectionEntity, ConnectionStatus } from './channel-connection.entity';

export class ConnectChannel {
  @IsIn(CHANNELS, { message: `must be one of ${CHANNELS.join(', ')}` })
  channel: Channel;

  /** By channel, such as `{botToken}` for TELEGRAM: see `docs/channels.md`. */
  @IsObject({ message: 'must be an object' })
  credentials: object;
}

export interface ConnectionAddresses {
  /** The address that the provider calls; for the widget, the base of its paths. */
  hookUrl: string;
  /** The HTML that shows the widget in the workspace's pages; null for the other channels. */
  snippet: string | null;
}

/** A connection as the dashboard shows it. */
export interface ChannelConnectionSummary extends ConnectionAddresses {
  id: string;
  channel: Channel;
  /** The account at the provider: phone number id, bot id, page id, Instagram account id. */
  externalId: string;
  status: ConnectionStatus;
  /** The part of the credentials that is not secret. */
  settings: object;
  /** Null for never. */
  credentialsExpireAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** A new connection, or one with new credentials. */
export interface ConnectedChannel extends ChannelConnectionSummary {
  /** What the operator enters elsewhere, such as a verify token. Returned once. */
  reveal: Record<string, string>;
}

export interface DisconnectedChannel extends ChannelConnectionSummary {
  /** Why deregistering at the provider failed: it may still call, and is refused. Null if it did not fail. */
  providerFault: string | null;
}

export function toConnectionSummary(
  connection: ChannelConnectionEntity,
  addresses: ConnectionAddresses,
): ChannelConnectionSummary {
  const { id, channel, externalId, status, settings, credentialsExpireAt, createdAt, updatedAt } = connection;
  return {
    id,
    channel,
    externalId,
    status,
    ...addresses,
    settings,
    credentialsExpireAt,
    createdAt,
    updatedAt,
  };
}
