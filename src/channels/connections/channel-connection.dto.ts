import { IsIn, IsObject } from 'class-validator';
import { type Channel, CHANNELS } from '../../common/channel-descriptors';
import { IsOpaque } from '../../common/validators';
import { ChannelConnectionEntity, ConnectionStatus } from './channel-connection.entity';

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

/** A connection as the dashboard shows it. */
export interface ChannelConnectionSummary extends ConnectionAddresses {
  id: string;
  channel: Channel;
  /** Id of the account at the provider: of a phone number, bot, page or Instagram account. */
  externalId: string;
  status: ConnectionStatus;
  /** The part of the credentials that is not secret. */
  settings: object;
  /** Time at which the credentials expire; null if they never do. */
  credentialsExpireAt: Date | null;
  /** Time at which a message of a customer came last, to the minute; null if none has. */
  lastReceivedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** Parts of a page in a sandbox that holds a widget. */
export interface WidgetPreview {
  snippet: string;
  token: string;
}

/** Result of connecting an account or of replacing its credentials. */
export interface ConnectedChannel extends ChannelConnectionSummary {
  /** Values that the operator enters elsewhere, such as a verify token. They are returned once. */
  reveal: Record<string, string>;
}

export interface DisconnectedChannel extends ChannelConnectionSummary {
  /** Reason why the hook is still registered at the provider, whose calls are refused; null if it is not. */
  providerFault: string | null;
}

export function toConnectionSummary(
  connection: ChannelConnectionEntity,
  addresses: ConnectionAddresses,
): ChannelConnectionSummary {
  const {
    id,
    channel,
    externalId,
    status,
    settings,
    credentialsExpireAt,
    lastReceivedAt,
    createdAt,
    updatedAt,
  } = connection;
  return {
    id,
    channel,
    externalId,
    status,
    ...addresses,
    settings,
    credentialsExpireAt,
    lastReceivedAt,
    createdAt,
    updatedAt,
  };
}
