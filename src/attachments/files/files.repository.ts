import { Injectable } from '@nestjs/common';
import { FileKind } from '../../common/file-limits';
import { Database } from '../../database/database';
import { WorkspaceServer } from '../../database/placement/placement';
import { ConversationKey } from '../../database/tables/table-declaration';
import { Transaction } from '../../database/transaction';
import { DUE_ROWS, DuePosition, DueStep, searchDue } from '../../queue/polling/due-position';
import { renditionOf } from '../renditions/rendition-kinds';
import { FileEntity, FileFacts } from './file.entity';

export interface FileRowKey {
  tenantId: string;
  fileId: string;
}

/** Facts of a file by which its bytes are checked. */
export interface KeptFile extends FileRowKey {
  size: number;
  sha256: Buffer | null;
  hasRendition: boolean;
}

const PLAYED: FileKind[] = ['AUDIO', 'VIDEO'];

const COLUMNS = `tenant_id AS "tenantId", id, conversation_id AS "conversationId", uploader, name,
  declared_type AS "declaredType", declared_sha256 AS "declaredSha256", size::float8 AS size, kind,
  content_type AS "contentType", sha256, width, height, duration_ms AS "durationMs", scan, stored_at AS "storedAt",
  delete_at AS "deleteAt", created_at AS "createdAt"`;

/** SQL condition that a file is not about to be deleted. */
const IS_KEPT = '(delete_at IS NULL OR delete_at > now())';

/** Writes `files`. A file is deleted after `delete_at`: first its bytes, and then its row. */
@Injectable()
export class FilesRepository {
  constructor(private readonly database: Database) {}

  async insert(
    tx: Transaction,
    file: Pick<
      FileEntity,
      'tenantId' | 'id' | 'conversationId' | 'uploader' | 'name' | 'declaredType' | 'declaredSha256' | 'size'
    >,
    livesMs: number,
  ): Promise<{ createdAt: Date; deleteAt: Date }> {
    const { tenantId, id, conversationId, uploader, name, declaredType, declaredSha256, size } = file;
    const [row] = await tx.query<{ createdAt: Date; deleteAt: Date }>(
      `INSERT INTO files (tenant_id, id, conversation_id, uploader, name, declared_type, declared_sha256, size,
                          delete_at, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now() + $9 * interval '1 millisecond', now())
       RETURNING created_at AS "createdAt", delete_at AS "deleteAt"`,
      [tenantId, id, conversationId, uploader, name, declaredType, declaredSha256, size, livesMs],
    );
    return row!;
  }

  async find(tenantId: string, id: string, tx?: Transaction): Promise<FileEntity | null> {
    const [row] = await (tx ?? this.database).query<FileEntity>(
      `SELECT ${COLUMNS} FROM files WHERE tenant_id = $1 AND id = $2 AND ${IS_KEPT}`,
      [tenantId, id],
    );
    return row ?? null;
  }

  /**
   * Locks files in the order of their ids. `isDue` tells whether a file is about to be deleted. It is of the
   * time after the lock, because the bytes may have been removed while the transaction waited.
   */
  lock(tx: Transaction, tenantId: string, ids: string[]): Promise<(FileEntity & { isDue: boolean })[]> {
    return tx.query(
      `SELECT ${COLUMNS}, coalesce(delete_at <= clock_timestamp(), false) AS "isDue" FROM files WHERE tenant_id = $1 AND id = ANY ($2)
       ORDER BY id FOR NO KEY UPDATE`,
      [tenantId, ids],
    );
  }

  /**
   * Stores the facts of a file whose bytes are stored, and the duration of audio and video, if it is known.
   * @param deleteAt time at which the file is deleted unless it is kept; null leaves it as it is
   * @returns false if the file is about to be deleted
   */
  async setStored(
    tx: Transaction,
    { tenantId, fileId }: FileRowKey,
    {
      size,
      sha256,
      kind,
      contentType,
      width,
      height,
      durationMs,
    }: FileFacts & { durationMs?: number | null },
    deleteAt: Date | null,
  ): Promise<boolean> {
    const rows = await tx.query(
      `UPDATE files SET size = $3, sha256 = $4, kind = $5, content_type = $6, width = $7, height = $8,
         duration_ms = $11,
         rendition_due_at = CASE WHEN $10::boolean AND stored_at IS NULL THEN $12 ELSE rendition_due_at END,
         stored_at = coalesce(stored_at, $12),
         delete_at = CASE WHEN stored_at IS NULL THEN coalesce($9, delete_at) ELSE delete_at END
       WHERE tenant_id = $1 AND id = $2 AND ${IS_KEPT} RETURNING id`,
      [
        tenantId,
        fileId,
        size,
        sha256,
        kind,
        contentType,
        width,
        height,
        deleteAt,
        renditionOf(contentType) !== null,
        PLAYED.includes(kind) ? (durationMs ?? null) : null,
        new Date(),
      ],
    );
    return rows.length > 0;
  }

  async setName(tx: Transaction, { tenantId, fileId }: FileRowKey, name: string): Promise<void> {
    await tx.query('UPDATE files SET name = $3 WHERE tenant_id = $1 AND id = $2', [tenantId, fileId, name]);
  }

  /** Keeps locked files for as long as attachments refer to them. */
  async keep(tx: Transaction, tenantId: string, ids: string[]): Promise<void> {
    await tx.query('UPDATE files SET delete_at = NULL WHERE tenant_id = $1 AND id = ANY ($2)', [
      tenantId,
      ids,
    ]);
  }

  /** Lets files be deleted now, if no attachment refers to them, and erases their names. */
  async release(tx: Transaction, tenantId: string, ids: string[]): Promise<void> {
    await tx.query(
      `UPDATE files f SET delete_at = least(delete_at, now()), name = ''
       WHERE tenant_id = $1 AND id = ANY ($2)
         AND NOT EXISTS (SELECT FROM attachments a WHERE a.tenant_id = $1 AND a.file_id = f.id)`,
      [tenantId, ids],
    );
  }

  /**
   * Counts the uploads of an uploader that no message has taken, and their bytes. A deleted upload counts
   * until its bytes are removed.
   */
  async countUnused(
    tx: Transaction,
    tenantId: string,
    uploader: string,
  ): Promise<{ count: number; bytes: number }> {
    const [row] = await tx.query<{ count: number; bytes: number }>(
      `SELECT count(*)::integer AS count, coalesce(sum(size), 0)::float8 AS bytes
       FROM files WHERE tenant_id = $1 AND uploader = $2 AND delete_at IS NOT NULL`,
      [tenantId, uploader],
    );
    return row!;
  }

  /** Lets unused uploads for a conversation be deleted now, and erases their names. */
  async releaseUploads(tx: Transaction, { tenantId, conversationId }: ConversationKey): Promise<void> {
    await tx.query(
      `UPDATE files SET delete_at = least(delete_at, now()), name = ''
       WHERE tenant_id = $1 AND conversation_id = $2 AND delete_at IS NOT NULL`,
      [tenantId, conversationId],
    );
  }

  /** Returns the ids of the files that are there, of the given ids. */
  async listKnown(tenantId: string, ids: string[]): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      'SELECT id FROM files WHERE tenant_id = $1 AND id = ANY ($2)',
      [tenantId, ids],
    );
    return rows.map(({ id }) => id);
  }

  /** Lists up to `count` files of a workspace whose bytes are stored and stay, in the order of their ids. */
  listKept(tenantId: string, after: string, count: number): Promise<KeptFile[]> {
    return this.database.query<KeptFile>(
      `SELECT tenant_id AS "tenantId", id AS "fileId", size::float8 AS size, sha256,
              rendition IS NOT NULL AS "hasRendition"
       FROM files WHERE tenant_id = $1 AND id > $2 AND stored_at IS NOT NULL AND ${IS_KEPT} ORDER BY id LIMIT $3`,
      [tenantId, after, count],
    );
  }

  /** Finds up to 1,000 files of a database server that are to be deleted. */
  findDue(after: DuePosition, server: WorkspaceServer): Promise<DueStep<FileRowKey>> {
    return searchDue<FileRowKey>(
      server,
      after,
      `SELECT tenant_id AS "tenantId", id AS "fileId", delete_at::text AS "dueAt"
       FROM files WHERE delete_at <= now() AND delete_at >= $1::timestamptz
       ORDER BY delete_at LIMIT ${DUE_ROWS} OFFSET $2`,
    );
  }

  /** Deletes the row of a file that is due, and returns its size; null if it is not there any more. */
  async delete(tx: Transaction, { tenantId, fileId }: FileRowKey): Promise<number | null> {
    const [row] = await tx.query<{ size: number }>(
      `DELETE FROM files WHERE tenant_id = $1 AND id = $2 AND delete_at <= now() RETURNING size::float8 AS size`,
      [tenantId, fileId],
    );
    return row?.size ?? null;
  }
}
