import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { isId } from '../common/ids';
import { Transaction } from '../database/transaction';
import { IdempotentRequest } from './idempotent-request';

@Injectable()
export class IdempotencyService {
  /**
   * Runs `work` in the transaction, or returns the first answer again if the same request ran under this key within 24
   * hours. Key and work commit together: a failed request leaves its key free, and of two requests at once the second
   * waits for the first.
   * @param subject the workspace, and the conversation whose message the response is: erasing that deletes the key
   * @throws AppError IDEMPOTENCY_CONFLICT when the key was used for another request
   */
  async once<T extends object>(
    tx: Transaction,
    subject: { tenantId: string; conversationId: string },
    request: IdempotentRequest | null,
    work: () => Promise<T>,
  ): Promise<T> {
    if (!request) return work();
    const { tenantId, conversationId } = subject;
    const fingerprint = request.fingerprint();
    const [claimed] = await tx.prepared(
      `INSERT INTO idempotency_keys AS k (tenant_id, key, fingerprint, conversation_id, created_at)
       VALUES ($1, $2, $3, $4, now())
       ON CONFLICT (tenant_id, key) DO UPDATE
         SET fingerprint = excluded.fingerprint, response = NULL, conversation_id = excluded.conversation_id,
           created_at = excluded.created_at
         WHERE k.created_at < now() - interval '24 hours'
       RETURNING key`,
      [tenantId, request.key, fingerprint, isId(conversationId) ? conversationId : null],
    );
    if (!claimed) return this.replay<T>(tx, tenantId, request);
    const response = await work();
    tx.pipeline(`UPDATE idempotency_keys SET response = $3 WHERE tenant_id = $1 AND key = $2`, [
      tenantId,
      request.key,
      JSON.stringify(response),
    ]);
    return response;
  }

  private async replay<T>(tx: Transaction, tenantId: string, request: IdempotentRequest): Promise<T> {
    const [kept] = await tx.query<{ fingerprint: Buffer; response: T }>(
      `SELECT fingerprint, response FROM idempotency_keys WHERE tenant_id = $1 AND key = $2`,
      [tenantId, request.key],
    );
    if (!kept?.fingerprint.equals(request.fingerprint())) {
      throw new AppError('IDEMPOTENCY_CONFLICT', 'This Idempotency-Key was used for another request.');
    }
    request.markReplayed();
    return kept.response;
  }
}
