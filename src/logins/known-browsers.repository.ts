import { Injectable } from '@nestjs/common';
import { newId } from '../common/ids';
import { Transaction } from '../database/transaction';

/** More are nobody's: the oldest go. */
const MAX_BROWSERS = 50;
const LIFE = `interval '180 days'`;

/** Browsers in which a person has logged in: their guesses are counted apart. A token of one opens nothing. */
@Injectable()
export class KnownBrowsersRepository {
  /** Prolongs it. @returns false when the person has no such browser any more */
  async renew(tx: Transaction, personId: string, hash: Buffer): Promise<boolean> {
    const rows = await tx.query(
      `WITH until AS (SELECT now() AS now, now() + ${LIFE} AS at)
       UPDATE known_browsers b SET expires_at = until.at FROM until
       WHERE b.person_id = $1 AND b.hash = $2 AND b.expires_at > until.now RETURNING 1`,
      [personId, hash],
    );
    return rows.length > 0;
  }

  /** The caller holds the person's lock. */
  async insert(tx: Transaction, personId: string, hash: Buffer): Promise<void> {
    await tx.query(
      `DELETE FROM known_browsers WHERE person_id = $1 AND id IN (
         SELECT id FROM known_browsers WHERE person_id = $1 ORDER BY id DESC OFFSET ${MAX_BROWSERS - 1} LIMIT ${MAX_BROWSERS})`,
      [personId],
    );
    await tx.query(
      `INSERT INTO known_browsers (id, person_id, hash, expires_at) VALUES ($1, $2, $3, now() + ${LIFE})`,
      [newId(), personId, hash],
    );
  }

  async deleteAll(tx: Transaction, personId: string): Promise<void> {
    await tx.query('DELETE FROM known_browsers WHERE person_id = $1', [personId]);
  }
}
