import { MigrationInterface, QueryRunner } from 'typeorm';

/** Number of erasures that one statement reads. */
const STEP = 1_000;

/** The moment at which a contact was erased, after which nobody edits it or writes to it any more. */
export class ErasedContacts1795485900000 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE contacts ADD COLUMN IF NOT EXISTS erased_at timestamptz');
    const first = '00000000-0000-0000-0000-000000000000';
    for (let after: [string, string] | null = [first, first]; after;) after = await this.step(db, after);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE contacts DROP COLUMN erased_at');
  }

  /** Marks the contacts of the next erasures, and returns the key of the last one; null at the end. */
  private async step(db: QueryRunner, after: [string, string]): Promise<[string, string] | null> {
    const [last] = (await db.query(
      `WITH step AS MATERIALIZED (
         SELECT tenant_id, id, contact_id, created_at FROM contact_erasures
         WHERE (tenant_id, id) > ($1, $2) ORDER BY tenant_id, id LIMIT ${STEP}
       ), marked AS (
         UPDATE contacts c SET erased_at = step.created_at FROM step
         WHERE c.tenant_id = step.tenant_id AND c.id = step.contact_id AND c.erased_at IS NULL
       )
       SELECT tenant_id AS "tenantId", id FROM step ORDER BY tenant_id DESC, id DESC LIMIT 1`,
      after,
    )) as { tenantId: string; id: string }[];
    return last ? [last.tenantId, last.id] : null;
  }
}
