import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';

const LIFE = `interval '24 hours'`;
/** Limit of one person's links that reset the password. A further link replaces the oldest one. */
const MAX_RESETS = 20;

/** Stores the links that reset a password. Each works once. */
@Injectable()
export class PasswordResetsRepository {
  constructor(private readonly database: Database) {}

  /** Adds a link, and returns the time at which it expires. The transaction holds the person's lock. */
  async insert(tx: Transaction, personId: string, hash: Buffer): Promise<Date> {
    await tx.query(
      `DELETE FROM password_resets WHERE person_id = $1 AND hash IN (
         SELECT hash FROM password_resets WHERE person_id = $1
         ORDER BY expires_at DESC OFFSET ${MAX_RESETS - 1} LIMIT ${MAX_RESETS})`,
      [personId],
    );
    const [row] = await tx.query<{ expiresAt: Date }>(
      `INSERT INTO password_resets (hash, person_id, expires_at) VALUES ($1, $2, now() + ${LIFE})
       RETURNING expires_at AS "expiresAt"`,
      [hash, personId],
    );
    return row!.expiresAt;
  }

  /** Returns the id of the person whose password the link resets; null when it was used or has expired. */
  async find(hash: Buffer): Promise<string | null> {
    const [row] = await this.database.query<{ personId: string }>(
      'SELECT person_id AS "personId" FROM password_resets WHERE hash = $1 AND expires_at > now()',
      [hash],
    );
    return row?.personId ?? null;
  }

  /** Deletes a link that works. It returns false for a link that was used or has expired. */
  async use(tx: Transaction, hash: Buffer): Promise<boolean> {
    const rows = await tx.query(
      'DELETE FROM password_resets WHERE hash = $1 AND expires_at > now() RETURNING 1',
      [hash],
    );
    return rows.length > 0;
  }

  async deleteAll(tx: Transaction, personId: string): Promise<void> {
    await tx.query('DELETE FROM password_resets WHERE person_id = $1', [personId]);
  }
}
