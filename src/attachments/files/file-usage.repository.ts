import { Injectable } from '@nestjs/common';
import { Transaction } from '../../database/transaction';

/** Writes `file_usage`, the number of bytes that the files of a workspace have in all. */
@Injectable()
export class FileUsageRepository {
  /**
   * Adds bytes to a workspace's usage.
   * @param max number of bytes that it may have; null for no limit
   * @returns the bytes that it has then; null, without a change, if it would have more
   */
  async add(tx: Transaction, tenantId: string, bytes: number, max: number | null): Promise<number | null> {
    if (max !== null && bytes > max) return null;
    const [row] = await tx.query<{ bytes: number }>(
      `INSERT INTO file_usage AS u (tenant_id, bytes) VALUES ($1, $2)
       ON CONFLICT (tenant_id) DO UPDATE SET bytes = greatest(u.bytes + excluded.bytes, 0)
         WHERE $3::bigint IS NULL OR u.bytes + excluded.bytes <= $3
       RETURNING bytes::float8 AS bytes`,
      [tenantId, bytes, max],
    );
    return row?.bytes ?? null;
  }

  /** Takes the bytes of a deleted file from a workspace's usage. Returns the bytes that are left. */
  async subtract(tx: Transaction, tenantId: string, bytes: number): Promise<number> {
    const [row] = await tx.query<{ bytes: number }>(
      `UPDATE file_usage SET bytes = greatest(bytes - $2, 0) WHERE tenant_id = $1
       RETURNING bytes::float8 AS bytes`,
      [tenantId, bytes],
    );
    return row?.bytes ?? 0;
  }

  async read(tx: Transaction, tenantId: string): Promise<number> {
    const [row] = await tx.query<{ bytes: number }>(
      'SELECT bytes::float8 AS bytes FROM file_usage WHERE tenant_id = $1',
      [tenantId],
    );
    return row?.bytes ?? 0;
  }
}
