import { Injectable } from '@nestjs/common';
import { SealedSecret, SecretBox } from '../common/secret-box';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';

const BATCH = 100;

interface StoredSecret extends SealedSecret {
  id: string;
}

/** Encrypts stored secrets with a new key, so that the old one can be removed. */
@Injectable()
export class KeyRotationService {
  /** By table: the prefix of its two columns. */
  private readonly tables = new Map<string, string>();

  constructor(
    private readonly database: Database,
    private readonly secrets: SecretBox,
  ) {}

  /**
   * Registers a table with a secret in `<prefix>_key_id` and `<prefix>_ciphertext`, encrypted with the row's `id` as
   * its context.
   * @internal
   */
  register(table: string, prefix = 'secret'): void {
    this.tables.set(table, prefix);
  }

  /**
   * Encrypts every stored secret with the first of the configured keys. Can be stopped and run again at any time.
   * @returns how many secrets had another key
   * @throws SecretUnreadable when the key of a stored secret is not configured
   */
  async reencrypt(): Promise<{ reencrypted: number }> {
    let reencrypted = 0;
    for (const [table, prefix] of this.tables) {
      for (let batch = -1; batch !== 0; reencrypted += batch) {
        batch = await this.database.transaction((tx) => this.reencryptBatch(tx, table, prefix));
      }
    }
    return { reencrypted };
  }

  private async reencryptBatch(tx: Transaction, table: string, prefix: string): Promise<number> {
    const stored = await tx.query<StoredSecret>(
      `SELECT id, ${prefix}_key_id AS "keyId", ${prefix}_ciphertext AS ciphertext FROM ${table}
       WHERE ${prefix}_key_id <> $1 ORDER BY id LIMIT $2 FOR NO KEY UPDATE`,
      [this.secrets.currentKeyId, BATCH],
    );
    for (const { id, ...sealed } of stored) {
      const { keyId, ciphertext } = this.secrets.encrypt(this.secrets.decrypt(sealed, id), id);
      await tx.query(`UPDATE ${table} SET ${prefix}_key_id = $2, ${prefix}_ciphertext = $3 WHERE id = $1`, [
        id,
        keyId,
        ciphertext,
      ]);
    }
    return stored.length;
  }
}
