import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';

const LIFE = `interval '5 minutes'`;
/** Number of codes that may be tried for one pending login. */
const MAX_ATTEMPTS = 5;
/** Limit of the pending logins of one person. A further one ends the oldest. */
const MAX_PENDING = 20;

export interface PendingLogin {
  personId: string;
  /** Known browser in which the password was typed; null for an unknown browser. */
  browserId: string | null;
}

/** Stores logins whose password was right and whose code is missing. A pending login gives no access. */
@Injectable()
export class PendingLoginsRepository {
  constructor(private readonly database: Database) {}

  /** Adds a pending login, and returns the time of its expiry. Requires the lock on the person's row. */
  async insert(tx: Transaction, hash: Buffer, { personId, browserId }: PendingLogin): Promise<Date> {
    await tx.query(
      `DELETE FROM pending_logins WHERE person_id = $1 AND hash IN (
         SELECT hash FROM pending_logins WHERE person_id = $1
         ORDER BY expires_at DESC OFFSET ${MAX_PENDING - 1} LIMIT ${MAX_PENDING})`,
      [personId],
    );
    const [row] = await tx.query<{ expiresAt: Date }>(
      `INSERT INTO pending_logins (hash, person_id, browser_id, attempt_count, expires_at)
       VALUES ($1, $2, $3, 0, now() + ${LIFE}) RETURNING expires_at AS "expiresAt"`,
      [hash, personId, browserId],
    );
    return row!.expiresAt;
  }

  /** Counts an attempt. Returns null if the pending login has expired or had five attempts. */
  async countAttempt(hash: Buffer): Promise<PendingLogin | null> {
    const [row] = await this.database.query<PendingLogin>(
      `WITH now AS (SELECT now() AS at)
       UPDATE pending_logins p SET attempt_count = p.attempt_count + 1 FROM now
       WHERE p.hash = $1 AND p.expires_at > now.at AND p.attempt_count < ${MAX_ATTEMPTS}
       RETURNING p.person_id AS "personId", p.browser_id AS "browserId"`,
      [hash],
    );
    return row ?? null;
  }

  /** Deletes a pending login. Returns false if another request has deleted it. */
  async delete(tx: Transaction, hash: Buffer): Promise<boolean> {
    return (await tx.query('DELETE FROM pending_logins WHERE hash = $1 RETURNING 1', [hash])).length > 0;
  }

  async deleteAll(tx: Transaction, personId: string): Promise<void> {
    await tx.query('DELETE FROM pending_logins WHERE person_id = $1', [personId]);
  }
}
