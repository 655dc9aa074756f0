import { Injectable } from '@nestjs/common';
import { Pipelined, Transaction } from '../database/transaction';
import { ErasedMessages } from '../database/tables/table-declaration';

const MAX_ERASED = 500;

/** Request whose response is stored under its `Idempotency-Key`. */
export interface KeptRequest {
  tenantId: string;
  key: string;
  fingerprint: Buffer;
  /** Conversation whose message the response contains; null for other responses. */
  conversationId: string | null;
}

@Injectable()
export class IdempotencyKeysRepository {
  /**
   * Inserts a key for a request if the key is free or was used more than 24 hours ago. If two requests insert
   * a key at once, the second waits until the transaction of the first ends.
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
         WHERE excluded.created_at - k.created_at > interval '24 hours'
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

  /** Returns the fingerprint and response of a key that was used within the last 24 hours, or else null. */
  async find<T>(
    tx: Transaction,
    tenantId: string,
    key: string,
  ): Promise<{ fingerprint: Buffer; response: T } | null> {
    const [kept] = await tx.query<{ fingerprint: Buffer; response: T }>(
      `SELECT fingerprint, response FROM idempotency_keys
       WHERE tenant_id = $1 AND key = $2 AND now() - created_at <= interval '24 hours'`,
      [tenantId, key],
    );
    return kept ?? null;
  }

  /**
   * Deletes up to 500 keys of a conversation whose contact is erased, because their responses contain its
   * messages. Every step of the erasure calls it, so that no key remains in the end.
   */
  async erase(tx: Transaction, { tenantId, conversationId, withContact }: ErasedMessages): Promise<void> {
    // An erasure without the contact erases messages that are over a day old, whose keys have expired.
    if (!withContact) return;
    await tx.query(
      `DELETE FROM idempotency_keys WHERE tenant_id = $1 AND key IN (
         SELECT key FROM idempotency_keys WHERE tenant_id = $1 AND conversation_id = $2
         ORDER BY key LIMIT ${MAX_ERASED} FOR UPDATE)`,
      [tenantId, conversationId],
    );
  }
}
