import { Connection } from '../adapters/channel-adapter';

export type ConnectionStatus = 'ACTIVE' | 'REAUTH_REQUIRED' | 'DISCONNECTED';

/**
 * Account of a workspace at a channel's provider. Apart from disconnected ones, a workspace has at most one
 * for each channel, and an account is in at most one workspace.
 */
export interface ChannelConnectionEntity extends Omit<Connection, 'credentials'> {
  /** Part of the credentials that is not secret. */
  settings: object;
  /** Credentials, encrypted and not hashed: requests to providers need them. */
  credentialsCiphertext: Buffer;
  credentialsKeyId: string;
  /** Time at which the credentials expire; null if they never do. */
  credentialsExpireAt: Date | null;
  status: ConnectionStatus;
  /** End of a pause that a provider's limit has caused; null for no pause. */
  pausedUntil: Date | null;
  /** Time at which a message of a customer came last, to the minute; null if none has. */
  lastReceivedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}
