import { Injectable, Logger } from '@nestjs/common';
import { Channel } from '../../common/channel-descriptors';
import { SecretBox, SecretUnreadable } from '../../secrets/secret-box';
import { Transaction } from '../../database/transaction';
import { Metrics } from '../../metrics/metrics';
import { KeyLookup } from '../../http/limits/key-lookup';
import { Connection, ConnectionKey } from '../adapters/channel-adapter';
import { ChannelConnectionEntity } from './channel-connection.entity';
import { ChannelConnectionsRepository } from './channel-connections.repository';

/** Connection that is not disconnected, with its credentials decrypted. */
export type LoadedConnection = Connection & ChannelConnectionEntity;

const HOOK_KEY = /^[0-9A-Za-z]{32}$/;

/**
 * Reads connections and decrypts their credentials. Caches neither, so that a disconnect or a rotation takes
 * effect at once. Methods for one connection throw SecretUnreadable if its encryption key is missing.
 */
@Injectable()
export class ConnectionLoader {
  private readonly logger = new Logger(ConnectionLoader.name);

  private readonly hookKeys: KeyLookup<ConnectionKey>;

  constructor(
    private readonly connections: ChannelConnectionsRepository,
    private readonly secrets: SecretBox,
    metrics: Metrics,
  ) {
    this.hookKeys = new KeyLookup('hooks', metrics, async (keys) => {
      const found = await connections.findHookKeys(keys.map((key) => key.toString()));
      return found.map(({ hookKey, ...owner }) => ({ key: Buffer.from(hookKey), owner }));
    });
  }

  async load(tenantId: string, id: string): Promise<LoadedConnection | null> {
    return this.openNullable(await this.connections.find(tenantId, id));
  }

  /**
   * Loads the connection by its hook key, the random last part of the hook's URL.
   * @throws AppError UNAVAILABLE if too many look-ups of unknown hook keys are waiting
   */
  async loadByHookKey(channel: Channel, hookKey: string): Promise<LoadedConnection | null> {
    if (!HOOK_KEY.test(hookKey)) return null;
    const find = (owner: ConnectionKey) => this.connections.findHooked(owner, channel);
    return this.openNullable(await this.hookKeys.find(Buffer.from(hookKey), find));
  }

  /** Loads the connections of accounts. Leaves out connections whose credentials cannot be decrypted. */
  async loadByAccounts(channel: Channel, externalIds: string[]): Promise<LoadedConnection[]> {
    const rows = await this.connections.findByAccounts(channel, externalIds);
    return rows.flatMap((row) => this.openIfReadable(row) ?? []);
  }

  async lock(tx: Transaction, tenantId: string, id: string): Promise<LoadedConnection | null> {
    return this.openNullable(await this.connections.lock(tx, tenantId, id, 'with claims'));
  }

  open(row: ChannelConnectionEntity): LoadedConnection {
    const sealed = { keyId: row.credentialsKeyId, ciphertext: row.credentialsCiphertext };
    return { ...row, credentials: JSON.parse(this.secrets.decrypt(sealed, row.id)) as object };
  }

  private openIfReadable(row: ChannelConnectionEntity): LoadedConnection | null {
    try {
      return this.open(row);
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      const { tenantId, id: connectionId } = row;
      this.logger.error(
        { err: error, tenantId, connectionId },
        "a connection's credentials can't be decrypted",
      );
      return null;
    }
  }

  private openNullable(row: ChannelConnectionEntity | null): LoadedConnection | null {
    return row && this.open(row);
  }
}
