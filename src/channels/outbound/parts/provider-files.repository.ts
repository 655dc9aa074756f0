import { Injectable } from '@nestjs/common';
import { FileForm } from '../../../common/file-limits';
import { Transaction } from '../../../database/transaction';
import { ConnectionKey } from '../../adapters/channel-adapter';
import { MessagePart } from './message-part';

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

  /**
   * Stores the provider's reference of a file that a part has sent, unless the part was erased meanwhile. The
   * lock lets an erasure that comes later find the reference.
   */
  async set(
    tx: Transaction,
    { tenantId, conversationId, messageId, position }: MessagePart,
    key: ProviderFileKey,
    { reference, livesMs }: { reference: string; livesMs: number },
  ): Promise<void> {
    const [part] = await tx.query(
      `SELECT 1 FROM message_parts
       WHERE tenant_id = $1 AND conversation_id = $2 AND message_id = $3 AND position = $4 FOR KEY SHARE`,
      [tenantId, conversationId, messageId, position],
    );
    if (!part) return;
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
