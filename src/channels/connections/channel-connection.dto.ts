import { IsIn, IsObject } from 'class-validator';
import { type Channel, CHANNELS } from '../../common/channel';
import { ChannelConnectionEntity, ConnectionStatus } from './channel-connection.entity';

/** An account at a channel's provider, to be connected. */
export class ConnectChannel {
  @IsIn(CHANNELS, { message: `must be one of ${CHANNELS.join(', ')}` })
  channel: Channel;

  /** What the channel asks for, such as `{botToken}` for TELEGRAM: see `docs/channels.md`. */
  @IsObject({ message: 'must be an object' })
  credentials: object;
}

/** A connection as the dashboard shows it. */
export interface ChannelConnectionSummary {
  id: string;
  channel: Channel;
  /** The account at the provider: phone number id, bot id, page id, Instagram account id. */
  externalId: string;
  status: ConnectionStatus;
  /** Where the provider sends its events to; for the widget, the address below which its script calls. */
  hookUrl: string;
  /** What is not secret of what was connected. */
  settings: object;
  /** When the provider lets the credentials lapse; null for never. */
  credentialsExpireAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** A connection just made, or under new credentials. `reveal` is shown this once: what is needed elsewhere. */
export interface ConnectedChannel extends ChannelConnectionSummary {
  reveal: Record<string, string>;
}

/** A connection that is no more. */
export interface DisconnectedChannel extends ChannelConnectionSummary {
  /** Why the provider could not be told; it may go on calling, in vain. Null when it was told, or need not be. */
  providerFault: string | null;
}

export function toConnectionSummary(
  connection: ChannelConnectionEntity,
  hookUrl: string,
): ChannelConnectionSummary {
  const { id, channel, externalId, status, settings, credentialsExpireAt, createdAt, updatedAt } = connection;
  return { id, channel, externalId, status, hookUrl, settings, credentialsExpireAt, createdAt, updatedAt };
}
