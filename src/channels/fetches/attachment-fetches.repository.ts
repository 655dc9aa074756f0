import { Injectable } from '@nestjs/common';
import { AttachmentKey } from '../../attachments/attachments.repository';
import { WorkspaceServer } from '../../database/placement/placement';
import { Pipelined, Transaction } from '../../database/transaction';
import { DUE_ROWS, DuePosition, DueStep, searchDue } from '../../queue/polling/due-position';
import { SealedSecret, SecretBox } from '../../secrets/secret-box';
import { FileReference } from '../adapters/hook-events';

/** Milliseconds for which a worker has a fetch for itself: more than a fetch may take. */
const LEASE_MS = 6 * 60_000;

/** Fetch that this worker may make. */
export interface ClaimedFetch extends AttachmentKey {
  connectionId: string;
  reference: FileReference;
  /** Number of tries, this one included. */
  tries: number;
}

/**
 * Writes `attachment_fetches`. A row is there while the file is to be fetched (`due_at`), or while it may be
 * fetched once more. It has the provider's reference to the file, encrypted.
 */
@Injectable()
export class AttachmentFetchesRepository {
  constructor(private readonly secrets: SecretBox) {}

  /** Inserts a fetch that is due at once; one that is never due if `isDue` is false. */
  insertPipelined(
    tx: Transaction,
    { tenantId, attachmentId }: AttachmentKey,
    connectionId: string,
    reference: FileReference,
    isDue = true,
  ): Pipelined {
    const { keyId, ciphertext } = this.secrets.encrypt(JSON.stringify(reference), attachmentId);
    return tx.pipeline(
      `INSERT INTO attachment_fetches (tenant_id, id, connection_id, reference_key_id, reference_ciphertext, due_at,
                                       created_at)
       VALUES ($1, $2, $3, $4, $5, $6, now())`,
      [tenantId, attachmentId, connectionId, keyId, ciphertext, isDue ? new Date() : null],
    );
  }

  /** Finds up to 1,000 fetches of a database server that are due. */
  findDue(after: DuePosition, server: WorkspaceServer): Promise<DueStep<AttachmentKey>> {
    return searchDue<AttachmentKey>(
      server,
      after,
      `SELECT tenant_id AS "tenantId", id AS "attachmentId", due_at::text AS "dueAt"
       FROM attachment_fetches WHERE due_at <= now() AND due_at >= $1::timestamptz
       ORDER BY due_at LIMIT ${DUE_ROWS} OFFSET $2`,
    );
  }

  /**
   * Claims a fetch that is due, and counts the try before it begins, so that a file which ends its worker is
   * not fetched for ever.
   * @returns null if another worker has claimed it
   * @throws SecretUnreadable
   */
  async claim(tx: Transaction, { tenantId, attachmentId }: AttachmentKey): Promise<ClaimedFetch | null> {
    const [row] = await tx.query<SealedSecret & { connectionId: string; tries: number }>(
      `UPDATE attachment_fetches SET tries = tries + 1, due_at = now() + $3 * interval '1 millisecond'
       WHERE tenant_id = $1 AND id = $2 AND due_at <= now()
       RETURNING connection_id AS "connectionId", reference_key_id AS "keyId", reference_ciphertext AS ciphertext,
                 tries`,
      [tenantId, attachmentId, LEASE_MS],
    );
    if (!row) return null;
    const reference = JSON.parse(this.secrets.decrypt(row, attachmentId)) as FileReference;
    return { tenantId, attachmentId, connectionId: row.connectionId, reference, tries: row.tries };
  }

  /** Makes a fetch due after a time; null ends it, so that only an agent can begin it again. */
  async schedule(
    tx: Transaction,
    { tenantId, attachmentId }: AttachmentKey,
    afterMs: number | null,
  ): Promise<void> {
    await tx.query(
      `UPDATE attachment_fetches SET due_at = now() + $3 * interval '1 millisecond'
       WHERE tenant_id = $1 AND id = $2`,
      [tenantId, attachmentId, afterMs],
    );
  }

  /**
   * Makes a fetch due again, with all its tries.
   * @returns false if there is none any more
   */
  async restart(tx: Transaction, { tenantId, attachmentId }: AttachmentKey): Promise<boolean> {
    const rows = await tx.query(
      `UPDATE attachment_fetches SET tries = 0, due_at = now() WHERE tenant_id = $1 AND id = $2 RETURNING id`,
      [tenantId, attachmentId],
    );
    return rows.length > 0;
  }

  async delete(tx: Transaction, { tenantId, attachmentId }: AttachmentKey): Promise<void> {
    await tx.query('DELETE FROM attachment_fetches WHERE tenant_id = $1 AND id = $2', [
      tenantId,
      attachmentId,
    ]);
  }

  /** Deletes the fetches of attachments, before the attachments themselves are erased. */
  async deleteAll(tx: Transaction, tenantId: string, attachmentIds: string[]): Promise<void> {
    await tx.query('DELETE FROM attachment_fetches WHERE tenant_id = $1 AND id = ANY ($2)', [
      tenantId,
      attachmentIds,
    ]);
  }
}
