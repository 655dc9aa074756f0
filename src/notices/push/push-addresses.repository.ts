import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { SealedSecret, SecretBox } from '../../secrets/secret-box';

/** Limit of the addresses of one person. A further address replaces the oldest one. */
const MAX_ADDRESSES = 10;

/** Address at a push service, and the keys with which a notice is encrypted for its browser. */
export interface PushAddress {
  /** URL that lets anyone who knows it write to the browser. */
  endpoint: string;
  p256dh: string;
  auth: string;
}

/** Push address of a login session, which has one at most. */
export interface SessionAddress extends PushAddress {
  sessionId: string;
}

export interface ExportedPushAddress {
  sessionId: string;
  createdAt: Date;
  /** Time at which a push service last took a notice. */
  lastOkAt: Date | null;
}

/** Encrypted push address of a session. */
export interface SealedAddress extends SealedSecret {
  sessionId: string;
  endpointHash: Buffer;
}

const SEALED = `session_id AS "sessionId", endpoint_hash AS "endpointHash", address_key_id AS "keyId",
  address_ciphertext AS ciphertext`;

/** Writes the table `push_addresses`. Addresses are encrypted, each bound to its session's id. */
@Injectable()
export class PushAddressesRepository {
  constructor(
    private readonly database: Database,
    private readonly secrets: SecretBox,
  ) {}

  /**
   * Stores a session's address in place of its earlier one. The same address of another session is replaced
   * too: it is the same browser, in which another session has begun. Requires the lock on the person's row.
   */
  async set(tx: Transaction, personId: string, { sessionId, ...address }: SessionAddress): Promise<void> {
    const { keyId, ciphertext } = this.secrets.encrypt(JSON.stringify(address), sessionId);
    await this.delete(tx, sessionId);
    await tx.query(
      `INSERT INTO push_addresses (session_id, person_id, endpoint_hash, address_key_id, address_ciphertext, created_at)
       VALUES ($1, $2, $3, $4, $5, now())
       ON CONFLICT (endpoint_hash) DO UPDATE SET session_id = excluded.session_id, person_id = excluded.person_id,
         address_key_id = excluded.address_key_id, address_ciphertext = excluded.address_ciphertext,
         created_at = excluded.created_at, last_ok_at = NULL`,
      [sessionId, personId, hashOf(address.endpoint), keyId, ciphertext],
    );
    await tx.query(
      `DELETE FROM push_addresses WHERE session_id IN (
         SELECT session_id FROM push_addresses WHERE person_id = $1
         ORDER BY created_at DESC, session_id OFFSET ${MAX_ADDRESSES} LIMIT ${MAX_ADDRESSES})`,
      [personId],
    );
  }

  async has(sessionId: string): Promise<boolean> {
    const rows = await this.database.query('SELECT FROM push_addresses WHERE session_id = $1', [sessionId]);
    return rows.length > 0;
  }

  /** Lists a person's addresses for the person's export, without secrets. */
  listForExport(personId: string): Promise<ExportedPushAddress[]> {
    return this.database.query<ExportedPushAddress>(
      `SELECT session_id AS "sessionId", created_at AS "createdAt", last_ok_at AS "lastOkAt"
       FROM push_addresses WHERE person_id = $1 ORDER BY session_id LIMIT ${MAX_ADDRESSES}`,
      [personId],
    );
  }

  list(personId: string): Promise<SealedAddress[]> {
    return this.database.query<SealedAddress>(
      `SELECT ${SEALED} FROM push_addresses WHERE person_id = $1 ORDER BY session_id LIMIT ${MAX_ADDRESSES}`,
      [personId],
    );
  }

  /** @throws SecretUnreadable: the key of the address is not configured */
  open({ sessionId, ...sealed }: SealedAddress): PushAddress {
    return JSON.parse(this.secrets.decrypt(sealed, sessionId)) as PushAddress;
  }

  async markTaken(sessionIds: string[]): Promise<void> {
    await this.database.query(
      'UPDATE push_addresses SET last_ok_at = now() WHERE session_id = ANY ($1::uuid[])',
      [sessionIds],
    );
  }

  async delete(tx: Transaction, sessionId: string): Promise<void> {
    await tx.query('DELETE FROM push_addresses WHERE session_id = $1', [sessionId]);
  }

  /** Deletes an address that its push service does not know any more, unless another one has replaced it. */
  async deleteGone({ sessionId, endpointHash }: SealedAddress): Promise<void> {
    await this.database.query('DELETE FROM push_addresses WHERE session_id = $1 AND endpoint_hash = $2', [
      sessionId,
      endpointHash,
    ]);
  }

  /** Re-encrypts up to `count` addresses that another key has encrypted. Returns their number. */
  reencryptStep(count: number): Promise<number> {
    return this.database.transaction(async (tx) => {
      const rows = await tx.query<SealedAddress>(
        `SELECT ${SEALED} FROM push_addresses WHERE address_key_id <> $1
         ORDER BY session_id LIMIT $2 FOR NO KEY UPDATE`,
        [this.secrets.currentKeyId, count],
      );
      for (const { sessionId, ...sealed } of rows) {
        const { keyId, ciphertext } = this.secrets.encrypt(
          this.secrets.decrypt(sealed, sessionId),
          sessionId,
        );
        await tx.query(
          'UPDATE push_addresses SET address_key_id = $2, address_ciphertext = $3 WHERE session_id = $1',
          [sessionId, keyId, ciphertext],
        );
      }
      return rows.length;
    });
  }
}

function hashOf(endpoint: string): Buffer {
  return createHash('sha256').update(endpoint).digest();
}
