import { MigrationInterface, QueryRunner } from 'typeorm';
import { contactSearchText } from '#dist/contacts/contact-search.js';

/** Number of contacts that one step reads and changes. */
const STEP = 1_000;

interface Row {
  tenantId: string;
  id: string;
  name: string | null;
  email: string | null;
  phone: string | null;
}

/**
 * Lets the service write the text by which a contact is found, in the form in which it compares texts, and
 * indexes the words of messages anew in that form. It can be called again after a failure.
 */
export class FoldedTexts1795801000000 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE contacts ALTER COLUMN search_text DROP EXPRESSION IF EXISTS');
    // A process of the former version does not name the column.
    await db.query(`ALTER TABLE contacts ALTER COLUMN search_text SET DEFAULT ''`);
    const first = '00000000-0000-0000-0000-000000000000';
    for (let after: [string, string] | null = [first, first]; after;) after = await this.step(db, after);
    await db.query(`UPDATE message_search_progress SET stage = 'CLEAR'`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP INDEX contacts_search_idx');
    await db.query('ALTER TABLE contacts DROP COLUMN search_text');
    await db.query(`
      ALTER TABLE contacts ADD COLUMN search_text text NOT NULL GENERATED ALWAYS AS (
        lower(coalesce(name, '') || E'\\n' || coalesce(email, '') || E'\\n' || coalesce(phone, ''))
        || E'\\n\\x01' || regexp_replace(coalesce(phone, ''), '[^0-9]', '', 'g')
      ) STORED`);
    await db.query(`
      CREATE INDEX contacts_search_idx ON contacts USING gin (search_grams(tenant_id, search_text, false))
      WITH (gin_pending_list_limit = 256)`);
    await db.query('ALTER INDEX contacts_search_idx ALTER COLUMN 1 SET STATISTICS 0');
  }

  /** Folds the next contacts, and returns the key of the last one; null at the end. */
  private async step(db: QueryRunner, after: [string, string]): Promise<[string, string] | null> {
    const rows = (await db.query(
      `SELECT tenant_id AS "tenantId", id, name, email, phone FROM contacts
       WHERE (tenant_id, id) > ($1, $2) ORDER BY tenant_id, id LIMIT ${STEP}`,
      after,
    )) as Row[];
    // A contact that is edited meanwhile gets its text by that edit.
    await db.query(
      `UPDATE contacts c SET search_text = step.search_text
       FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[])
         AS step (tenant_id, id, name, email, phone, search_text)
       WHERE c.tenant_id = step.tenant_id AND c.id = step.id AND c.search_text <> step.search_text
         AND (c.name, c.email, c.phone) IS NOT DISTINCT FROM (step.name, step.email, step.phone)`,
      [
        ...(['tenantId', 'id', 'name', 'email', 'phone'] as const).map((key) => rows.map((row) => row[key])),
        rows.map((row) => contactSearchText(row)),
      ],
    );
    const last = rows.at(-1);
    return last && rows.length === STEP ? [last.tenantId, last.id] : null;
  }
}
