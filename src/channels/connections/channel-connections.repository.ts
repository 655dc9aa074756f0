import { Injectable } from '@nestjs/common';
import { Channel } from '../../common/channel-descriptors';
import { violatesUnique } from '../../database/driver/database-errors';
import { isId } from '../../common/ids';
import { Database, Reader } from '../../database/database';
import { workspaceOf } from '../../database/key-list';
import { Transaction } from '../../database/transaction';
import { ConnectionKey } from '../adapters/channel-adapter';
import { ChannelConnectionEntity } from './channel-connection.entity';

export interface Reception extends ConnectionKey {
  at: Date;
}

const ACCOUNTS_KEY = 'connected_accounts_pkey';

const COLUMNS = `w.tenant_id AS "tenantId", w.id, w.channel, w.external_id AS "externalId", w.hook_key AS "hookKey",
  w.settings, w.credentials_ciphertext AS "credentialsCiphertext", w.credentials_key_id AS "credentialsKeyId",
  w.credentials_expire_at AS "credentialsExpireAt", w.status, w.paused_until AS "pausedUntil",
  w.last_received_at AS "lastReceivedAt", w.failed_replies AS "failedReplies",
  w.created_at AS "createdAt", w.updated_at AS "updatedAt"`;

/** SQL condition of connections in use. Disconnected rows stay, because sent messages refer to them. */
const IN_USE = `w.status <> 'DISCONNECTED'`;

const FIND = `SELECT ${COLUMNS} FROM channel_connections w WHERE w.tenant_id = $1 AND ${IN_USE}`;

@Injectable()
export class ChannelConnectionsRepository {
  constructor(private readonly database: Database) {}

  async list(tenantId: string): Promise<ChannelConnectionEntity[]> {
    if (!isId(tenantId)) return [];
    return this.database.query(`${FIND} ORDER BY w.id DESC`, [tenantId]);
  }

  async find(
    tenantId: string,
    id: string,
    reader: Reader = this.database,
  ): Promise<ChannelConnectionEntity | null> {
    return isId(id) ? first(reader.query(`${FIND} AND w.id = $2`, [tenantId, id])) : null;
  }

  async wasDisconnected(tenantId: string, id: string): Promise<boolean> {
    const find = 'SELECT FROM channel_connections WHERE tenant_id = $1 AND id = $2';
    return isId(id) && (await this.database.query(find, [tenantId, id])).length > 0;
  }

  findByChannel(
    tx: Transaction,
    tenantId: string,
    channel: Channel,
  ): Promise<ChannelConnectionEntity | null> {
    return first(tx.query(`${FIND} AND w.channel = $2`, [tenantId, channel]));
  }

  findHooked({ tenantId, id }: ConnectionKey, channel: Channel): Promise<ChannelConnectionEntity | null> {
    return this.database.placement.forWorkspace(tenantId, () =>
      first(this.database.query(`${FIND} AND w.id = $2 AND w.channel = $3`, [tenantId, id, channel])),
    );
  }

  findHookKeys(hookKeys: string[]): Promise<(ConnectionKey & { hookKey: string })[]> {
    return this.database.query(
      'SELECT hook_key AS "hookKey", tenant_id AS "tenantId", id FROM hook_keys WHERE hook_key = ANY ($1::text[])',
      [hookKeys],
    );
  }

  /** Returns the connections of accounts, in all workspaces. Each account has at most one connection. */
  async findByAccounts(channel: Channel, externalIds: string[]): Promise<ChannelConnectionEntity[]> {
    const keys = await this.database.query<ConnectionKey>(
      `SELECT tenant_id AS "tenantId", id FROM connected_accounts
       WHERE channel = $1 AND external_id = ANY ($2::text[])`,
      [channel, externalIds],
    );
    if (keys.length === 0) return [];
    const found: ChannelConnectionEntity[] = [];
    // Runs one query at a time, because each concurrent query would use a database connection.
    for (const batch of this.database.batchesOf(keys, keys.length)) {
      const connections = await this.database.placement.forWorkspace(batch[0]!.tenantId, () =>
        this.database.query<ChannelConnectionEntity>(
          `SELECT ${COLUMNS} FROM unnest($1::uuid[], $2::uuid[]) AS k (tenant_id, id)
           JOIN channel_connections w ON w.tenant_id = ${workspaceOf('k', '$1', this.database)} AND w.id = k.id
           WHERE ${IN_USE}`,
          [batch.map(({ tenantId }) => tenantId), batch.map(({ id }) => id)],
        ),
      );
      found.push(...connections);
    }
    return found;
  }

  /**
   * Locks a connection's row.
   * @param sharing whether workers can claim the connection's messages before the transaction ends
   */
  async lock(
    tx: Transaction,
    tenantId: string,
    id: string,
    sharing: 'with claims' | 'with none',
  ): Promise<ChannelConnectionEntity | null> {
    if (!isId(id)) return null;
    if (sharing === 'with none') tx.outlastClaimsPipelined();
    const mode = sharing === 'with claims' ? 'FOR NO KEY UPDATE' : 'FOR UPDATE';
    return first(tx.query(`${FIND} AND w.id = $2 ${mode}`, [tenantId, id]));
  }

  /** Makes transactions that connect, rotate or disconnect a workspace's channel run one at a time. */
  async lockChannel(tx: Transaction, tenantId: string, channel: Channel): Promise<void> {
    await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `channel connection ${tenantId} ${channel}`,
    ]);
  }

  /**
   * Inserts a connection. Waits while another transaction connects the same account.
   * @returns false if another workspace has connected the account; the caller must then roll back
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
    await tx.query(
      `INSERT INTO channel_connections (tenant_id, id, channel, external_id, hook_key, created_at, updated_at,
         settings, credentials_ciphertext, credentials_key_id, credentials_expire_at, status, paused_until)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
      [tenantId, id, channel, externalId, hookKey, connection.createdAt, ...changeable(connection)],
    );
    return true;
  }

  async update(tx: Transaction, connection: ChannelConnectionEntity): Promise<void> {
    await tx.query(
      `UPDATE channel_connections SET updated_at = $3, settings = $4, credentials_ciphertext = $5,
         credentials_key_id = $6, credentials_expire_at = $7, status = $8, paused_until = $9
       WHERE tenant_id = $1 AND id = $2`,
      [connection.tenantId, connection.id, ...changeable(connection)],
    );
  }

  /** Allows the account and the hook key of a disconnected connection to be used for a new connection. */
  async deleteLookUps(tx: Transaction, connection: ChannelConnectionEntity): Promise<void> {
    const { channel, externalId, hookKey } = connection;
    await tx.query('DELETE FROM hook_keys WHERE hook_key = $1', [hookKey]);
    await tx.query('DELETE FROM connected_accounts WHERE channel = $1 AND external_id = $2', [
      channel,
      externalId,
    ]);
  }

  /** Stores the latest time at which each connection received a message. Skips locked connections. */
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

  /** Delays claims of a connection's messages by `delayMs` milliseconds. Never shortens a running pause. */
  async pause(tx: Transaction, { tenantId, id }: ConnectionKey, delayMs: number): Promise<void> {
    await tx.query(
      `WITH pause AS (SELECT now() + $3 * interval '1 millisecond' AS until)
       UPDATE channel_connections w SET paused_until = greatest(w.paused_until, pause.until) FROM pause
       WHERE w.tenant_id = $1 AND w.id = $2`,
      [tenantId, id, delayMs],
    );
  }
}

function changeable(connection: ChannelConnectionEntity): unknown[] {
  const { updatedAt, settings, credentialsCiphertext, credentialsKeyId } = connection;
  const { credentialsExpireAt, status, pausedUntil } = connection;
  const credentials = [settings, credentialsCiphertext, credentialsKeyId, credentialsExpireAt];
  return [updatedAt, ...credentials, status, pausedUntil];
}

async function first<Row>(rows: Promise<Row[]>): Promise<Row | null> {
  return (await rows)[0] ?? null;
}
