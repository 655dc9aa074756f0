import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';

/** Limit of the known browsers of one person. A further browser replaces the oldest one. */
const MAX_BROWSERS = 50;
const LIFE = `interval '180 days'`;

/** Browser in which a person has logged in. Only the hash of its token is stored besides these fields. */
export interface KnownBrowser {
  id: string;
  expiresAt: Date;
}

/** Stores the browsers in which people have logged in. Each browser has its own count of wrong passwords. */
@Injectable()
export class KnownBrowsersRepository {
  constructor(private readonly database: Database) {}

  /** Prolongs a known browser to 180 days from now. Returns false if the person has no such browser. */
  async renew(tx: Transaction, personId: string, hash: Buffer): Promise<boolean> {
    const rows = await tx.query(
      `WITH until AS (SELECT now() AS now, now() + ${LIFE} AS at)
       UPDATE known_browsers b SET expires_at = until.at FROM until
       WHERE b.person_id = $1 AND b.hash = $2 AND b.expires_at > until.now RETURNING 1`,
      [personId, hash],
    );
    return rows.length > 0;
  }

  /** Adds a known browser. Requires the lock on the person's row. */
  async insert(tx: Transaction, personId: string, hash: Buffer): Promise<void> {
    await tx.query(
      `DELETE FROM known_browsers WHERE person_id = $1 AND id IN (
         SELECT id FROM known_browsers WHERE person_id = $1
         ORDER BY id DESC OFFSET ${MAX_BROWSERS - 1} LIMIT ${MAX_BROWSERS})`,
      [personId],
    );
    await tx.query(
      `INSERT INTO known_browsers (id, person_id, hash, expires_at) VALUES ($1, $2, $3, now() + ${LIFE})`,
      [newId(), personId, hash],
    );
  }

  list(personId: string): Promise<KnownBrowser[]> {
    return this.database.query<KnownBrowser>(
      `SELECT id, expires_at AS "expiresAt" FROM known_browsers WHERE person_id = $1 ORDER BY id DESC
       LIMIT ${MAX_BROWSERS}`,
      [personId],
    );
  }

  async deleteAll(tx: Transaction, personId: string): Promise<void> {
    await tx.query('DELETE FROM known_browsers WHERE person_id = $1', [personId]);
  }
}
