import { Injectable } from '@nestjs/common';
import { FindOptionsSelect, FindOptionsWhere, In, Not } from 'typeorm';
import { Channel } from '../../common/channel-descriptors';
import { toBatches } from '../../common/group-by';
import { violatesUnique } from '../../database/driver/database-errors';
import { isId } from '../../common/ids';
import { Database, Reader } from '../../database/database';
import { workspaceOf } from '../../database/key-list';
import { Transaction } from '../../database/transaction';
import { ConnectionKey } from '../adapters/channel-adapter';
import { ChannelConnectionEntity } from './channel-connection.entity';

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

/** A message of a customer that a connection got. */
export interface Reception extends ConnectionKey {
  at: Date;
}

/** Condition of connections in use. Disconnected ones are kept for the messages sent over them. */
const NOT_DISCONNECTED = { status: Not('DISCONNECTED' as const) };

const ACCOUNTS_KEY = 'connected_accounts_pkey';

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
  lastReceivedAt: true,
  createdAt: true,
  updatedAt: true,
};

@Injectable()
export class ChannelConnectionsRepository {
  constructor(private readonly database: Database) {}

  /** Lists a workspace's connections, the newest first. */
  async list(tenantId: string): Promise<ChannelConnectionEntity[]> {
    if (!isId(tenantId)) return [];
    return this.database.manager.find(ChannelConnectionEntity, {
      where: { tenantId, ...NOT_DISCONNECTED },
      order: { id: 'DESC' },
    });
  }

  async find(
    tenantId: string,
    id: string,
    reader: Reader = this.database,
  ): Promise<ChannelConnectionEntity | null> {
    return isId(id) ? findConnected(reader, tenantId, { id }) : null;
  }

  async wasDisconnected(tenantId: string, id: string): Promise<boolean> {
    return isId(id) && this.database.manager.existsBy(ChannelConnectionEntity, { tenantId, id });
  }

  findByChannel(
    tx: Transaction,
    tenantId: string,
    channel: Channel,
  ): Promise<ChannelConnectionEntity | null> {
    return findConnected(tx, tenantId, { channel });
  }

  /** Finds a connection by where its hook key leads. */
  findHooked({ tenantId, id }: ConnectionKey, channel: Channel): Promise<ChannelConnectionEntity | null> {
    return this.database.withinNodeShare(tenantId, () =>
      findConnected(this.database, tenantId, { id, channel }),
    );
  }

  /** Returns those of the hook keys that connections have, in any workspace, each with its connection. */
  findHookKeys(hookKeys: string[]): Promise<(ConnectionKey & { hookKey: string })[]> {
    return this.database.query(
      'SELECT hook_key AS "hookKey", tenant_id AS "tenantId", id FROM hook_keys WHERE hook_key = ANY ($1::text[])',
      [hookKeys],
    );
  }

  /** Finds the connections of accounts in all workspaces: an account is connected in one at most. */
  async findByAccounts(channel: Channel, externalIds: string[]): Promise<ChannelConnectionEntity[]> {
    const keys = await this.database.query<ConnectionKey>(
      `SELECT tenant_id AS "tenantId", id FROM connected_accounts
       WHERE channel = $1 AND external_id = ANY ($2::text[])`,
      [channel, externalIds],
    );
    if (keys.length === 0) return [];
    const found: ChannelConnectionEntity[] = [];
    // One after the other: together, they would take as many connections.
    for (const batch of toBatches(keys, keys.length, this.database)) {
      const connections = await this.database.withinNodeShare(batch[0]!.tenantId, () =>
        this.database.manager.find(ChannelConnectionEntity, {
          where: {
            tenantId: In([...new Set(batch.map(({ tenantId }) => tenantId))]),
            id: In(batch.map(({ id }) => id)),
            ...NOT_DISCONNECTED,
          },
          select: WITH_CREDENTIALS,
        }),
      );
      found.push(...connections);
    }
    return found;
  }

  /**
   * Locks a connection. A claim of messages takes FOR KEY SHARE, which sees an update only if the update's
   * transaction took FOR UPDATE first.
   * @param sharing whether messages may be claimed before the transaction ends
   */
  async lock(
    tx: Transaction,
    tenantId: string,
    id: string,
    sharing: 'with claims' | 'with none',
  ): Promise<ChannelConnectionEntity | null> {
    if (!isId(id)) return null;
    if (sharing === 'with none') tx.outlastClaimsPipelined();
    return tx.manager.findOne(ChannelConnectionEntity, {
      where: { tenantId, id, ...NOT_DISCONNECTED },
      select: WITH_CREDENTIALS,
      lock: { mode: sharing === 'with claims' ? 'for_no_key_update' : 'pessimistic_write' },
    });
  }

  /** Serializes connecting, rotating and disconnecting a workspace's channel, until the transaction ends. */
  async lockChannel(tx: Transaction, tenantId: string, channel: Channel): Promise<void> {
    await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `channel connection ${tenantId} ${channel}`,
    ]);
  }

  /**
   * Inserts a connection. Waits while another transaction connects the same account.
   * @returns false when the account is connected in another workspace: the transaction must be rolled back
   */
  async insert(tx: Transaction, connection: ChannelConnectionEntity): Promise<boolean> {
    const { tenantId, id, channel, externalId, hookKey } = connection;
    try {
      await tx.query(
        'INSERT INTO connected_accounts (channel, external_id, tenant_id, id) VALUES ($1, $2, $3, $4)',
        [channel, externalId, tenantId, id],
      );
    } catch (error) {
      if (violatesUnique(error, ACCOUNTS_KEY)) return false;
      throw error;
    }
    await tx.query('INSERT INTO hook_keys (hook_key, tenant_id, id) VALUES ($1, $2, $3)', [
      hookKey,
      tenantId,
      id,
    ]);
    await tx.manager.insert(ChannelConnectionEntity, connection);
    return true;
  }

  async update(tx: Transaction, tenantId: string, id: string, changes: ConnectionChanges): Promise<void> {
    await tx.manager.update(ChannelConnectionEntity, { tenantId, id }, changes);
  }

  /** Frees the account and the hook key of a connection that is disconnected. */
  async deleteLookUps(tx: Transaction, connection: ChannelConnectionEntity): Promise<void> {
    const { channel, externalId, hookKey } = connection;
    await tx.query('DELETE FROM hook_keys WHERE hook_key = $1', [hookKey]);
    await tx.query('DELETE FROM connected_accounts WHERE channel = $1 AND external_id = $2', [
      channel,
      externalId,
    ]);
  }

  /** Records receptions, one for each connection. It skips connections that are being changed. */
  async markReceived(receptions: Reception[]): Promise<void> {
    await this.database.query(
      `UPDATE channel_connections w SET last_received_at = greatest(w.last_received_at, r.at)
       FROM (
         SELECT w.tenant_id, w.id, r.at
         FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) AS r (tenant_id, id, at)
         JOIN channel_connections w ON w.tenant_id = ${workspaceOf('r', '$1', this.database)} AND w.id = r.id
         FOR NO KEY UPDATE OF w SKIP LOCKED) AS r
       WHERE w.tenant_id = ${workspaceOf('r', '$1', this.database)} AND w.id = r.id`,
      [
        receptions.map(({ tenantId }) => tenantId),
        receptions.map(({ id }) => id),
        receptions.map(({ at }) => at),
      ],
    );
  }

  /** Keeps workers from claiming messages of a connection for some milliseconds; a longer pause stays. */
  async pause(tx: Transaction, { tenantId, id }: ConnectionKey, delayMs: number): Promise<void> {
    await tx.query(
      `WITH pause AS (SELECT now() + $3 * interval '1 millisecond' AS until)
       UPDATE channel_connections w SET paused_until = greatest(w.paused_until, pause.until) FROM pause
       WHERE w.tenant_id = $1 AND w.id = $2`,
      [tenantId, id, delayMs],
    );
  }
}

function findConnected(
  reader: Reader,
  tenantId: string,
  where: FindOptionsWhere<ChannelConnectionEntity>,
): Promise<ChannelConnectionEntity | null> {
  return reader.manager.findOne(ChannelConnectionEntity, {
    where: { tenantId, ...where, ...NOT_DISCONNECTED },
    select: WITH_CREDENTIALS,
  });
}
