import { Injectable } from '@nestjs/common';
import { WorkspaceServer } from '../../database/placement/placement';
import { Transaction } from '../../database/transaction';
import { DUE_ROWS, DuePosition, DueStep, searchDue } from '../../queue/polling/due-position';
import { RenditionKind, renditionOf } from './rendition-kinds';

export interface DueRendition {
  tenantId: string;
  fileId: string;
}

/** Number of tries, so that a file which ends its worker is not tried for ever. */
const MAX_TRIES = 3;
/** Time for which a worker has a file for itself: more than a rendition may take. */
const LEASE_MS = 60_000;

/** Writes the columns of `files` about renditions. */
@Injectable()
export class RenditionsRepository {
  /** Finds up to 1,000 files of a database server whose rendition is to be made. */
  findDue(after: DuePosition, server: WorkspaceServer): Promise<DueStep<DueRendition>> {
    return searchDue<DueRendition>(
      server,
      after,
      `SELECT tenant_id AS "tenantId", id AS "fileId", rendition_due_at::text AS "dueAt"
       FROM files WHERE rendition_due_at <= now() AND rendition_due_at >= $1::timestamptz
       ORDER BY rendition_due_at LIMIT ${DUE_ROWS} OFFSET $2`,
    );
  }

  /**
   * Claims a file, and counts the try before it begins.
   * @returns the kind of its rendition; null if another worker has it, or it was tried too often
   */
  async claim(tx: Transaction, { tenantId, fileId }: DueRendition): Promise<RenditionKind | null> {
    const [row] = await tx.query<{ contentType: string; tries: number }>(
      `UPDATE files SET rendition_tries = rendition_tries + 1,
         rendition_due_at = CASE WHEN rendition_tries < ${MAX_TRIES} THEN $3::timestamptz END
       WHERE tenant_id = $1 AND id = $2 AND rendition_due_at <= now()
       RETURNING content_type AS "contentType", rendition_tries AS tries`,
      [tenantId, fileId, new Date(Date.now() + LEASE_MS)],
    );
    return row && row.tries <= MAX_TRIES ? renditionOf(row.contentType) : null;
  }

  /**
   * Stores which rendition a file has; null if it has none.
   * @returns false if the file is about to be deleted
   */
  async finish(
    tx: Transaction,
    { tenantId, fileId }: DueRendition,
    kind: RenditionKind | null,
  ): Promise<boolean> {
    const rows = await tx.query(
      `UPDATE files SET rendition = $3, rendition_due_at = NULL
       WHERE tenant_id = $1 AND id = $2 AND (delete_at IS NULL OR delete_at > now()) RETURNING id`,
      [tenantId, fileId, kind],
    );
    return rows.length > 0;
  }
}
