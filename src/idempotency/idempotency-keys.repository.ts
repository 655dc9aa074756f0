import { Injectable } from '@nestjs/common';
import { Pipelined, Transaction } from '../database/transaction';
import { ErasedMessages } from '../stored-data/table-declaration';

/** Most keys that one step of an erasure deletes. */
const MAX_ERASED = 500;

/** A request that is remembered under its key. */
export interface KeptRequest {
  tenantId: string;
  key: string;
  fingerprint: Buffer;
  /** Conversation whose message the response contains; null when the request named none that can exist. */
  conversationId: string | null;
}

@Injectable()
export class IdempotencyKeysRepository {
  /**
   * Claims a key that is free, or older than 24 hours. If two requests claim a key at once, the second waits
   * for the first.
   * @returns whether the key was free
   */
  async claim(tx: Transaction, request: KeptRequest): Promise<boolean> {
    const { tenantId, key, fingerprint, conversationId } = request;
    const rows = await tx.prepared(
      `INSERT INTO idempotency_keys AS k (tenant_id, key, fingerprint, conversation_id, created_at)
       VALUES ($1, $2, $3, $4, now())
       ON CONFLICT (tenant_id, key) DO UPDATE
         SET fingerprint = excluded.fingerprint, response = NULL, conversation_id = excluded.conversation_id,
           created_at = excluded.created_at
         WHERE k.created_at < now() - interval '24 hours'
       RETURNING key`,
      [tenantId, key, fingerprint, conversationId],
    );
    return rows.length > 0;
  }

  setResponsePipelined(tx: Transaction, tenantId: string, key: string, response: object): Pipelined {
    return tx.pipeline(`UPDATE idempotency_keys SET response = $3 WHERE tenant_id = $1 AND key = $2`, [
      tenantId,
      key,
      JSON.stringify(response),
    ]);
  }

  async find<T>(
    tx: Transaction,
    tenantId: string,
    key: string,
  ): Promise<{ fingerprint: Buffer; response: T } | null> {
    const [kept] = await tx.query<{ fingerprint: Buffer; response: T }>(
      `SELECT fingerprint, response FROM idempotency_keys WHERE tenant_id = $1 AND key = $2`,
      [tenantId, key],
    );
    return kept ?? null;
  }

  /**
   * Deletes some keys of a conversation whose contact is erased, because their responses contain its
   * messages. There are no more such keys than messages, so some in each step of the erasure are enough.
   */
  async erase(tx: Transaction, { tenantId, conversationId, withContact }: ErasedMessages): Promise<void> {
    // A message that is too old was sent a day ago or more: its key is gone.
    if (!withContact) return;
    await tx.query(
      `DELETE FROM idempotency_keys WHERE tenant_id = $1 AND key IN (
         SELECT key FROM idempotency_keys WHERE tenant_id = $1 AND conversation_id = $2
         ORDER BY key LIMIT ${MAX_ERASED} FOR UPDATE)`,
      [tenantId, conversationId],
    );
  }
}
