import { Injectable } from '@nestjs/common';
import { FileForm } from '../../../common/file-limits';
import { Transaction } from '../../../database/transaction';
import { ConnectionKey } from '../../adapters/channel-adapter';

/** File in the form in which a provider has it. */
export interface ProviderFileKey {
  connection: ConnectionKey;
  fileId: string;
  form: FileForm;
}

const BY_KEY = 'tenant_id = $1 AND connection_id = $2 AND file_id = $3 AND form = $4';

/** Writes `provider_files`, so that a file that a provider already has is not uploaded again. */
@Injectable()
export class ProviderFilesRepository {
  /** Returns the provider's reference of a file; null if there is none that lives. */
  async find(tx: Transaction, key: ProviderFileKey): Promise<string | null> {
    const [row] = await tx.query<{ reference: string }>(
      `SELECT reference FROM provider_files WHERE ${BY_KEY} AND expires_at > now()`,
      keyColumns(key),
    );
    return row?.reference ?? null;
  }

  async set(tx: Transaction, key: ProviderFileKey, reference: string, livesMs: number): Promise<void> {
    const expiresAt = new Date(Date.now() + livesMs);
    await tx.query(
      `INSERT INTO provider_files (tenant_id, connection_id, file_id, form, reference, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (tenant_id, connection_id, file_id, form)
       DO UPDATE SET reference = excluded.reference, expires_at = excluded.expires_at`,
      [...keyColumns(key), reference, expiresAt],
    );
  }

  async delete(tx: Transaction, key: ProviderFileKey): Promise<void> {
    await tx.query(`DELETE FROM provider_files WHERE ${BY_KEY}`, keyColumns(key));
  }

  async deleteOfFiles(tx: Transaction, tenantId: string, fileIds: string[]): Promise<void> {
    await tx.query('DELETE FROM provider_files WHERE tenant_id = $1 AND file_id = ANY ($2)', [
      tenantId,
      fileIds,
    ]);
  }
}

function keyColumns({ connection: { tenantId, id }, fileId, form }: ProviderFileKey): string[] {
  return [tenantId, id, fileId, form];
}
