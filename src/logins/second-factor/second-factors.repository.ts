import { Injectable } from '@nestjs/common';
import { SealedSecret, SecretBox } from '../../secrets/secret-box';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';

/** Stores second factors and recovery codes. Secrets are encrypted, each bound to its person's id. */
@Injectable()
export class SecondFactorsRepository {
  constructor(
    private readonly database: Database,
    private readonly secrets: SecretBox,
  ) {}

  /**
   * Returns the secret in base32, even if the second factor is not confirmed; null without one.
   * @throws SecretUnreadable: the secret's encryption key is not configured
   */
  async findSecret(tx: Transaction, personId: string): Promise<string | null> {
    const [sealed] = await tx.query<SealedSecret>(
      'SELECT secret_key_id AS "keyId", secret_ciphertext AS ciphertext FROM second_factors WHERE person_id = $1',
      [personId],
    );
    return sealed ? this.secrets.decrypt(sealed, personId) : null;
  }

  /** Replaces the person's second factor. The new one has no effect until it is confirmed. */
  async replace(tx: Transaction, personId: string, secret: string): Promise<void> {
    const { keyId, ciphertext } = this.secrets.encrypt(secret, personId);
    await this.delete(tx, personId);
    await tx.query(
      'INSERT INTO second_factors (person_id, secret_key_id, secret_ciphertext) VALUES ($1, $2, $3)',
      [personId, keyId, ciphertext],
    );
  }

  async confirm(tx: Transaction, personId: string): Promise<void> {
    await tx.query(
      'WITH now AS (SELECT now() AS at) UPDATE second_factors SET confirmed_at = now.at FROM now WHERE person_id = $1',
      [personId],
    );
  }

  /** Marks a 30-second step's code as used. Returns false if this or a later step's code was used before. */
  async useTimeStep(tx: Transaction, personId: string, step: number): Promise<boolean> {
    const rows = await tx.query(
      'UPDATE second_factors SET last_step = $2 WHERE person_id = $1 AND last_step < $2 RETURNING 1',
      [personId, step],
    );
    return rows.length > 0;
  }

  async delete(tx: Transaction, personId: string): Promise<void> {
    await tx.query('DELETE FROM recovery_codes WHERE person_id = $1', [personId]);
    await tx.query('DELETE FROM second_factors WHERE person_id = $1', [personId]);
  }

  async replaceRecoveryCodes(tx: Transaction, personId: string, hashes: Buffer[]): Promise<void> {
    await tx.query('DELETE FROM recovery_codes WHERE person_id = $1', [personId]);
    await tx.query(
      `INSERT INTO recovery_codes (person_id, hash)
       SELECT p.id, c.hash FROM people p, unnest($2::bytea[]) AS c (hash) WHERE p.id = $1`,
      [personId, hashes],
    );
  }

  /** Deletes a recovery code that is used. Returns false if the person has no such code. */
  async useRecoveryCode(tx: Transaction, personId: string, hash: Buffer): Promise<boolean> {
    const rows = await tx.query('DELETE FROM recovery_codes WHERE person_id = $1 AND hash = $2 RETURNING 1', [
      personId,
      hash,
    ]);
    return rows.length > 0;
  }

  /** Re-encrypts up to `count` secrets that are not encrypted with the current key. Returns their number. */
  async reencryptStep(count: number): Promise<number> {
    return this.database.transaction(async (tx) => {
      const rows = await tx.query<SealedSecret & { personId: string }>(
        `SELECT person_id AS "personId", secret_key_id AS "keyId", secret_ciphertext AS ciphertext
         FROM second_factors WHERE secret_key_id <> $1 ORDER BY person_id LIMIT $2 FOR NO KEY UPDATE`,
        [this.secrets.currentKeyId, count],
      );
      for (const { personId, ...sealed } of rows) {
        const { keyId, ciphertext } = this.secrets.encrypt(this.secrets.decrypt(sealed, personId), personId);
        await tx.query(
          'UPDATE second_factors SET secret_key_id = $2, secret_ciphertext = $3 WHERE person_id = $1',
          [personId, keyId, ciphertext],
        );
      }
      return rows.length;
    });
  }
}
