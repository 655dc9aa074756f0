import { Injectable } from '@nestjs/common';
import { randomBase62 } from '../../common/base62';
import { Channel, hookUrlOf, snippetOf } from '../../common/channel-descriptors';
import { newId } from '../../common/ids';
import { SecretBox } from '../../secrets/secret-box';
import { Config } from '../../config/config';
import { CheckedCredentials, Connection } from '../adapters/channel-adapter';
import { ChannelAdapters } from '../adapters/channel-adapters';
import { ConnectionAddresses } from './channel-connection.dto';
import { ChannelConnectionEntity } from './channel-connection.entity';

const HOOK_KEY_LENGTH = 32;

export type SealedCredentials = Pick<
  ChannelConnectionEntity,
  'settings' | 'credentialsCiphertext' | 'credentialsKeyId' | 'credentialsExpireAt'
>;

/** Checks, proves and seals credentials, and registers the hook at the provider. */
@Injectable()
export class ConnectionRegistration {
  constructor(
    private readonly adapters: ChannelAdapters,
    private readonly secrets: SecretBox,
    private readonly config: Config,
  ) {}

  /**
   * Makes a connection that is neither stored nor registered yet.
   * @throws AppError INVALID_BODY
   */
  makeConnection(
    tenantId: string,
    channel: Channel,
    credentials: unknown,
  ): { connection: ChannelConnectionEntity; checked: CheckedCredentials } {
    const checked = this.check(channel, credentials);
    const id = newId();
    const now = new Date();
    const connection: ChannelConnectionEntity = {
      id,
      tenantId,
      channel,
      externalId: checked.externalId,
      hookKey: randomBase62(HOOK_KEY_LENGTH),
      ...this.seal(id, checked),
      status: 'ACTIVE',
      pausedUntil: null,
      lastReceivedAt: null,
      createdAt: now,
      updatedAt: now,
    };
    return { connection, checked };
  }

  /**
   * Checks credentials without a call to the provider.
   * @throws AppError INVALID_BODY
   */
  check(channel: Channel, credentials: unknown, previous?: Connection): CheckedCredentials {
    return this.adapters.getAdapter(channel).check(credentials, previous);
  }

  seal(id: string, { credentials, settings, expireAt }: CheckedCredentials): SealedCredentials {
    const { keyId, ciphertext } = this.secrets.encrypt(JSON.stringify(credentials), id);
    return {
      settings,
      credentialsKeyId: keyId,
      credentialsCiphertext: ciphertext,
      credentialsExpireAt: expireAt,
    };
  }

  /** Seals empty credentials, which replace those of a disconnected channel. */
  sealEmpty(id: string): Omit<SealedCredentials, 'settings'> {
    const { keyId, ciphertext } = this.secrets.encrypt('{}', id);
    return { credentialsKeyId: keyId, credentialsCiphertext: ciphertext, credentialsExpireAt: null };
  }

  /**
   * Proves that the provider takes the credentials for the account.
   * @throws AppError INVALID_BODY: the provider refused; UNAVAILABLE: it can't be reached
   */
  prove(connection: Connection): Promise<void> {
    return this.adapters.getAdapter(connection.channel).prove(connection);
  }

  /**
   * Registers the hook at the provider.
   * @throws AppError INVALID_BODY: the provider refused; UNAVAILABLE: it can't be reached
   */
  register(connection: Connection): Promise<void> {
    return this.adapters
      .getAdapter(connection.channel)
      .register(connection, this.getAddresses(connection).hookUrl);
  }

  /**
   * Deregisters the hook at the provider.
   * @throws the provider's failure
   */
  unregister(connection: Connection): Promise<void> {
    return this.adapters.getAdapter(connection.channel).unregister(connection);
  }

  getAddresses(connection: Pick<Connection, 'channel' | 'hookKey'>): ConnectionAddresses {
    const { publicUrl } = this.config;
    return { hookUrl: hookUrlOf(publicUrl, connection), snippet: snippetOf(publicUrl, connection) };
  }
}
