import { Connection } from '../adapters/channel-adapter';

export type ConnectionStatus = 'ACTIVE' | 'REAUTH_REQUIRED' | 'DISCONNECTED';

/**
 * Account of a workspace at a channel's provider. A workspace has at most one connection for each channel,
 * and an account belongs to at most one workspace. These limits ignore disconnected connections.
 */
export interface ChannelConnectionEntity extends Omit<Connection, 'credentials'> {
  settings: object;
  /** Encrypted instead of hashed, because requests to providers contain the credentials. */
  credentialsCiphertext: Buffer;
  credentialsKeyId: string;
  credentialsExpireAt: Date | null;
  status: ConnectionStatus;
  /** Time until which a rate limit of the provider stops sending; null if none does. */
  pausedUntil: Date | null;
  /** Time of the latest message from a customer, at most a minute out of date. */
  lastReceivedAt: Date | null;
  /** Number of replies that failed since the last one that arrived, counted to `FAILING_FROM`. */
  failedReplies: number;
  createdAt: Date;
  updatedAt: Date;
}
