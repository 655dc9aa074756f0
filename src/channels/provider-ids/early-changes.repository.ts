import { Injectable } from '@nestjs/common';
import { Channel } from '../../common/channel-descriptors';
import { ContactKey } from '../../database/tables/table-declaration';
import { Transaction } from '../../database/transaction';

/**
 * Customer's edit or unsend of a message that cannot be applied yet, because the message is not stored, or
 * because the customer's id does not belong to the message's contact.
 */
export interface EarlyChange {
  connectionId: string;
  providerId: string;
  customerId: string;
  /** New text; null if the customer took the message back. */
  body: string | null;
  metadata: object | null;
  number: number | null;
}

export interface EarlyCustomer {
  contactId: string;
  ids: string[];
}

export const EARLY = `connection_id AS "connectionId", provider_id AS "providerId", customer_id AS "customerId", body, metadata,
  edit_number AS number`;
/** Maximum number of waiting changes that one query reads, more than any customer is expected to have. */
const MAX_WAITING = 100;

/** Stores customers' edits and unsends until they can be applied. */
@Injectable()
export class EarlyChangesRepository {
  /** Returns the waiting changes of a contact's ids and of merged contacts. Assigns them to the contact. */
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
   * Stores a change of a message that is not stored, or is not known to be the customer's. Replaces an older
   * edit, but never an unsend. The caller must hold the lock on the customer's ids, so that a transaction
   * that stores the message waits for it, and then finds this change.
   * @param contactId the customer's contact, whose erasure deletes the change; null while it is unknown
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

  /** Deletes the waiting changes of a message: one customer's, or all customers' if `customerId` is null. */
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

  /** Deletes up to `count` waiting changes of a contact. Reports whether there may be more. */
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
