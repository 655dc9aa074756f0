import { Connection } from '../adapters/channel-adapter';

export type ConnectionStatus = 'ACTIVE' | 'REAUTH_REQUIRED' | 'DISCONNECTED';

/**
 * Account of a workspace at a channel's provider. Apart from disconnected connections, a workspace has at
 * most one for each channel, and an account belongs to at most one workspace.
 */
export interface ChannelConnectionEntity extends Omit<Connection, 'credentials'> {
  /** Part of the credentials that is not secret. */
  settings: object;
  /** Credentials, encrypted instead of hashed because requests to providers contain them. */
  credentialsCiphertext: Buffer;
  credentialsKeyId: string;
  credentialsExpireAt: Date | null;
  status: ConnectionStatus;
  /** End of a pause after the provider reported a rate limit; null if there is no pause. */
  pausedUntil: Date | null;
  /**
   * Time of the latest message from a customer, at most a minute out of date; null before the first message.
   */
  lastReceivedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}
