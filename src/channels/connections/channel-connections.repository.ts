import { Injectable } from '@nestjs/common';
import { FindOptionsSelect, FindOptionsWhere, In, Not } from 'typeorm';
import { Channel } from '../../common/channel';
import { violatesUnique } from '../../common/database-errors';
import { isId } from '../../common/ids';
import { Database, Reader } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { DeliveryError, statusesBefore } from '../../messages/message-status';
import { ChannelConnectionEntity } from './channel-connection.entity';

/** What of a connection can change. */
export type ConnectionChanges = Pick<ChannelConnectionEntity, 'updatedAt'> &
  Partial<
    Pick<
      ChannelConnectionEntity,
      | 'settings'
      | 'credentialsCiphertext'
      | 'credentialsKeyId'
      | 'credentialsExpireAt'
      | 'status'
      | 'pausedUntil'
    >
  >;

/** What was disconnected stays only for the messages that it carried. */
const LIVE = { status: Not('DISCONNECTED' as const) };

const ONE_WORKSPACE_FOR_AN_ACCOUNT = 'channel_connections_external_idx';

const WITH_CREDENTIALS: FindOptionsSelect<ChannelConnectionEntity> = {
  id: true,
  tenantId: true,
  channel: true,
  externalId: true,
  hookKey: true,
  settings: true,
  credentialsCiphertext: true,
  credentialsKeyId: true,
  credentialsExpireAt: true,
  status: true,
  pausedUntil: true,
  createdAt: true,
  updatedAt: true,
};

@Injectable()
export class ChannelConnectionsRepository {
  constructor(private readonly database: Database) {}

  /** Newest first. */
  async list(tenantId: string): Promise<ChannelConnectionEntity[]> {
    if (!isId(tenantId)) return [];
    return this.database.manager.find(ChannelConnectionEntity, {
      where: { tenantId, ...LIVE },
      order: { id: 'DESC' },
    });
  }

  async find(
    tenantId: string,
    id: string,
    reader: Reader = this.database,
  ): Promise<ChannelConnectionEntity | null> {
    return isId(id) ? findLive(reader, { tenantId, id }) : null;
  }

  /** Whether there was one that is no more. */
  async wasDisconnected(tenantId: string, id: string): Promise<boolean> {
    return isId(id) && this.database.manager.existsBy(ChannelConnectionEntity, { tenantId, id });
  }

  findByChannel(
    tenantId: string,
    channel: Channel,
    reader: Reader = this.database,
  ): Promise<ChannelConnectionEntity | null> {
    return findLive(reader, { tenantId, channel });
  }

  /** By what only the provider was told. */
  findByHookKey(channel: Channel, hookKey: string): Promise<ChannelConnectionEntity | null> {
    return findLive(this.database, { channel, hookKey });
  }

  /** Those of these accounts that are connected, in whichever workspace: each is in one. */
  findByAccounts(channel: Channel, externalIds: string[]): Promise<ChannelConnectionEntity[]> {
    return this.database.manager.find(ChannelConnectionEntity, {
      where: { channel, externalId: In(externalIds), ...LIVE },
      select: WITH_CREDENTIALS,
    });
  }

  async lock(tx: Transaction, tenantId: string, id: string): Promise<ChannelConnectionEntity | null> {
    if (!isId(id)) return null;
    return tx.manager.findOne(ChannelConnectionEntity, {
      where: { tenantId, id, ...LIVE },
      select: WITH_CREDENTIALS,
      lock: { mode: 'for_no_key_update' },
    });
  }

  /** Lets whatever connects, rotates or disconnects a workspace's channel take turns, until the transaction ends. */
  async takeTurn(tx: Transaction, tenantId: string, channel: Channel): Promise<void> {
    await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `channel connection ${tenantId} ${channel}`,
    ]);
  }

  /**
   * Waits for whoever connects the same account just now.
   * @returns whether it could be: an account is in one workspace. If not, the transaction is of no more use.
   */
  async insert(tx: Transaction, connection: ChannelConnectionEntity): Promise<boolean> {
    try {
      await tx.manager.insert(ChannelConnectionEntity, connection);
      return true;
    } catch (error) {
      if (violatesUnique(error, ONE_WORKSPACE_FOR_AN_ACCOUNT)) return false;
      throw error;
    }
  }

  async update(tx: Transaction, tenantId: string, id: string, changes: ConnectionChanges): Promise<void> {
    await tx.manager.update(ChannelConnectionEntity, { tenantId, id }, changes);
  }

  /** Fails the replies that wait for a connection. What is just being sent is left to whoever sends it. */
  async failWaiting(
    tx: Transaction,
    { tenantId, id }: Pick<ChannelConnectionEntity, 'tenantId' | 'id'>,
    error: DeliveryError,
  ): Promise<void> {
    await tx.query(
      `WITH waiting AS (
         DELETE FROM message_dispatches
         WHERE tenant_id = $1 AND connection_id = $2 AND lease_id IS NULL AND holds_until IS NULL
         RETURNING conversation_id, message_id
       )
       UPDATE messages SET delivery_status = 'FAILED', delivery_error = $3
       FROM waiting
       WHERE messages.tenant_id = $1 AND messages.conversation_id = waiting.conversation_id
         AND messages.id = waiting.message_id AND messages.delivery_status = ANY ($4)`,
      [tenantId, id, JSON.stringify(error), statusesBefore('FAILED')],
    );
  }
}

function findLive(
  reader: Reader,
  where: FindOptionsWhere<ChannelConnectionEntity>,
): Promise<ChannelConnectionEntity | null> {
  return reader.manager.findOne(ChannelConnectionEntity, {
    where: { ...where, ...LIVE },
    select: WITH_CREDENTIALS,
  });
}
