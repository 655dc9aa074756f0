import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { isId } from '../common/ids';
import { Transaction } from '../database/transaction';
import { IdempotencyKeysRepository } from './idempotency-keys.repository';
import { IdempotentRequest } from './idempotent-request';

@Injectable()
export class IdempotencyService {
  constructor(private readonly keys: IdempotencyKeysRepository) {}

  /**
   * Runs `work` in the transaction. If the same request ran with the same key within the last 24 hours,
   * returns its first answer instead. Key and work commit together, so a failed request leaves its key free.
   * If a request comes twice at the same time, the second one waits until the first has ended.
   * @param subject the workspace, and the conversation whose message the response contains, if any. An
   *   erasure of that conversation deletes the key.
   * @throws AppError IDEMPOTENCY_CONFLICT if the key was used for another request
   */
  async once<T extends object>(
    tx: Transaction,
    subject: { tenantId: string; conversationId: string | null },
    request: IdempotentRequest | null,
    work: () => Promise<T>,
  ): Promise<T> {
    if (!request) return work();
    const { tenantId, conversationId } = subject;
    const fingerprint = request.fingerprint();
    const { key } = request;
    const isNamed = conversationId !== null && isId(conversationId);
    const kept = { tenantId, key, fingerprint, conversationId: isNamed ? conversationId : null };
    if (!(await this.keys.claim(tx, kept))) {
      const first = await this.findFirst<T>(tx, tenantId, request);
      if (first === null) throw conflict();
      return first;
    }
    const response = await work();
    this.keys.setResponsePipelined(tx, tenantId, key, response);
    return response;
  }

  /**
   * Returns the first answer if the same request ran with the same key within the last 24 hours, or null. A
   * caller may call it before `once` to save work. Null is not final, because a concurrent request may use
   * the key.
   * @throws AppError IDEMPOTENCY_CONFLICT if the key was used for another request
   */
  async findFirst<T extends object>(
    tx: Transaction,
    tenantId: string,
    request: IdempotentRequest | null,
  ): Promise<T | null> {
    const kept = request && (await this.keys.find<T>(tx, tenantId, request.key));
    if (!kept) return null;
    if (!request.isSame(kept.fingerprint)) throw conflict();
    request.markReplayed();
    return kept.response;
  }
}

function conflict(): AppError {
  return new AppError('IDEMPOTENCY_CONFLICT', 'This Idempotency-Key was used for another request.');
}
