import { Injectable } from '@nestjs/common';
import { Channel } from '../../common/channel-descriptors';
import { ContactKey } from '../../database/tables/table-declaration';
import { Transaction } from '../../database/transaction';

/** Change of a customer's message that waits for the message, or until the customer is known to be theirs. */
export interface EarlyChange {
  connectionId: string;
  providerId: string;
  /** Provider's id of the customer who made the change. */
  customerId: string;
  /** New text; null for a message that was unsent. */
  body: string | null;
  metadata: object | null;
  number: number | null;
}

/** Customer whose early changes are looked for. */
export interface EarlyCustomer {
  contactId: string;
  ids: string[];
}

/** Columns of an EarlyChange, in SQL. */
export const EARLY = `connection_id AS "connectionId", provider_id AS "providerId", customer_id AS "customerId", body, metadata,
  edit_number AS number`;
/** Limit of a customer's changes that are read when the customer gets an id. No customer has as many. */
const MAX_WAITING = 100;

/** Writes changes of customers' messages that come before the message, or before its customer is known. */
@Injectable()
export class EarlyChangesRepository {
  /**
   * Returns the changes by a customer that wait under the given ids, or for contacts who were merged into
   * this one. They become the contact's.
   */
  async findWaiting(
    tx: Transaction,
    tenantId: string,
    channel: Channel,
    { contactId, ids }: EarlyCustomer,
    merged: string[],
  ): Promise<EarlyChange[]> {
    return tx.query(
      `UPDATE early_changes SET contact_id = $3
       WHERE tenant_id = $1 AND (connection_id, provider_id, customer_id) IN (
         SELECT e.connection_id, e.provider_id, e.customer_id FROM early_changes e
         JOIN channel_connections c ON c.tenant_id = $1 AND c.id = e.connection_id AND c.channel = $2
         WHERE e.tenant_id = $1 AND (e.customer_id = ANY ($4) OR e.contact_id = ANY ($5)) LIMIT ${MAX_WAITING})
       RETURNING ${EARLY}`,
      [tenantId, channel, contactId, ids, merged],
    );
  }

  /**
   * Keeps a change whose message, or whose customer, is unknown. The last edit counts, and a message that was
   * unsent stays so. The caller holds the lock of the customer's identity, so the message comes after the
   * change.
   * @param contactId contact with whom the change is erased; null as long as the customer is unknown
   */
  async insert(
    tx: Transaction,
    tenantId: string,
    { connectionId, providerId, customerId, body, metadata, number }: EarlyChange,
    contactId: string | null,
  ): Promise<void> {
    await tx.query(
      `INSERT INTO early_changes AS early
         (tenant_id, connection_id, provider_id, customer_id, contact_id, body, metadata, edit_number, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       ON CONFLICT (tenant_id, connection_id, provider_id, customer_id) DO UPDATE
       SET body = excluded.body, metadata = excluded.metadata, edit_number = excluded.edit_number
       WHERE early.body IS NOT NULL AND coalesce(excluded.edit_number >= early.edit_number, true)`,
      [
        tenantId,
        connectionId,
        providerId,
        customerId,
        contactId,
        body,
        metadata && JSON.stringify(metadata),
        number,
        new Date(),
      ],
    );
  }

  /** Deletes the changes that wait for a message: all of them, or a customer's alone. */
  async delete(
    tx: Transaction,
    tenantId: string,
    {
      connectionId,
      providerId,
      customerId = null,
    }: Pick<EarlyChange, 'connectionId' | 'providerId'> & {
      customerId?: string | null;
    },
  ): Promise<void> {
    await tx.query(
      `DELETE FROM early_changes WHERE tenant_id = $1 AND connection_id = $2 AND provider_id = $3
         AND ($4::text IS NULL OR customer_id = $4)`,
      [tenantId, connectionId, providerId, customerId],
    );
  }

  /** Deletes up to `count` early changes of a contact, and returns whether there may be more. */
  async erase(tx: Transaction, { tenantId, contactId }: ContactKey, count: number): Promise<boolean> {
    const rows = await tx.query(
      `DELETE FROM early_changes WHERE tenant_id = $1 AND (connection_id, provider_id, customer_id) IN (
         SELECT connection_id, provider_id, customer_id FROM early_changes
         WHERE tenant_id = $1 AND contact_id = $2 LIMIT $3)
       RETURNING 1`,
      [tenantId, contactId, count],
    );
    return rows.length === count;
  }
}
