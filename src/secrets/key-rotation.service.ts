import { Injectable } from '@nestjs/common';
import { SealedSecret, SecretBox } from '../common/secret-box';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';

const BATCH = 100;

/** A row's secret as it is stored. */
interface StoredSecret extends SealedSecret {
  id: string;
}

/** Puts what is stored encrypted under another key, so that the old one can be taken away. */
@Injectable()
export class KeyRotationService {
  /** Each table, and what the names of its two columns begin with. */
  private readonly tables = new Map<string, string>();

  constructor(
    private readonly database: Database,
    private readonly secrets: SecretBox,
  ) {}

  /**
   * Takes in a feature's table. Each of its rows has its secret in `secret_key_id` and `secret_ciphertext`, or in columns
   * with another beginning, encrypted with the row's `id` as its context.
   */
  register(table: string, secret = 'secret'): void {
    this.tables.set(table, secret);
  }

  /**
   * Encrypts every stored secret under the first of the configured keys. Can be stopped and run again at any time.
   * @returns how many were under another key
   * @throws SecretUnreadable when the key of one of them is not configured
   */
  async reencrypt(): Promise<{ reencrypted: number }> {
    let reencrypted = 0;
    for (const [table, secret] of this.tables) {
      for (let batch = -1; batch !== 0; reencrypted += batch) {
        batch = await this.database.transaction((tx) => this.reencryptBatch(tx, table, secret));
      }
    }
    return { reencrypted };
  }

  private async reencryptBatch(tx: Transaction, table: string, secret: string): Promise<number> {
    const stored = await tx.query<StoredSecret>(
      `SELECT id, ${secret}_key_id AS "keyId", ${secret}_ciphertext AS ciphertext FROM ${table}
       WHERE ${secret}_key_id <> $1 ORDER BY id LIMIT $2 FOR NO KEY UPDATE`,
      [this.secrets.currentKeyId, BATCH],
    );
    for (const { id, ...sealed } of stored) {
      const { keyId, ciphertext } = this.secrets.encrypt(this.secrets.decrypt(sealed, id), id);
      await tx.query(`UPDATE ${table} SET ${secret}_key_id = $2, ${secret}_ciphertext = $3 WHERE id = $1`, [
        id,
        keyId,
        ciphertext,
      ]);
    }
    return stored.length;
  }
}
