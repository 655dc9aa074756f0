import { MigrationInterface, QueryRunner } from 'typeorm';
import { toProviderForm } from '#dist/contacts/identity-forms.js';

/** Number of ids that one step reads. */
const STEP = 1_000;

interface Row {
  tenantId: string;
  channel: Parameters<typeof toProviderForm>[0];
  externalId: string;
  contactId: string;
}

/**
 * Brings ids that callers gave in other spellings, such as `+34 600`, to the form that providers use. An id
 * that another contact has in that form stays as it is. It can be called again after a failure.
 */
export class ProviderForms1795804000000 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    const first = ['00000000-0000-0000-0000-000000000000', '', ''];
    for (let after: string[] | null = first; after;) after = await this.step(db, after);
  }

  async down(): Promise<void> {
    // The former spellings are not kept. The former version takes both.
  }

  /** Changes the next ids, and returns the key of the last one; null at the end. */
  private async step(db: QueryRunner, after: string[]): Promise<string[] | null> {
    const rows = (await db.query(
      `SELECT tenant_id AS "tenantId", channel, external_id AS "externalId", contact_id AS "contactId"
       FROM contact_identities WHERE (tenant_id, channel, external_id) > ($1, $2, $3)
       ORDER BY tenant_id, channel, external_id LIMIT ${STEP}`,
      after,
    )) as Row[];
    for (const row of rows) {
      // Digits alone may be what the provider itself calls the customer.
      if (/^\d+$/.test(row.externalId)) continue;
      const form = toProviderForm(row.channel, row.externalId);
      if (form !== null && form !== row.externalId) await this.change(db, row, form);
    }
    const last = rows.at(-1);
    return last && rows.length === STEP ? [last.tenantId, last.channel, last.externalId] : null;
  }

  private async change(db: QueryRunner, row: Row, form: string): Promise<void> {
    const { tenantId, channel, externalId, contactId } = row;
    const names = [tenantId, channel, externalId, contactId];
    const [found] = (await db.query(
      `SELECT contact_id = $4 AS "isTheirs" FROM contact_identities
       WHERE tenant_id = $1 AND channel = $2 AND external_id = $3`,
      [tenantId, channel, form, contactId],
    )) as { isTheirs: boolean }[];
    if (found && !found.isTheirs) return;
    // The conversations come first: a second call finds the identity that it has not changed yet.
    await db.query(
      `UPDATE conversations SET identity_external_id = $5
       WHERE tenant_id = $1 AND contact_id = $4 AND source_channel = $2 AND identity_external_id = $3`,
      [...names, form],
    );
    await db.query(
      found
        ? `DELETE FROM contact_identities
           WHERE tenant_id = $1 AND channel = $2 AND external_id = $3 AND contact_id = $4`
        : `UPDATE contact_identities SET external_id = $5
           WHERE tenant_id = $1 AND channel = $2 AND external_id = $3 AND contact_id = $4`,
      found ? names : [...names, form],
    );
  }
}
