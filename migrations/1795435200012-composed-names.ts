import { MigrationInterface, QueryRunner } from 'typeorm';

/** Number of contacts that one statement reads. */
const STEP = 10_000;

/**
 * Stores the names and addresses of contacts in composed characters (NFC), as the service searches them. Each
 * statement changes the few rows that are not, and locks no others.
 */
export class ComposedNames1795435200012 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    const first = '00000000-0000-0000-0000-000000000000';
    for (let after: [string, string] | null = [first, first]; after;) after = await this.step(db, after);
  }

  /** Leaves the names as they are: both forms of a name are the same text. */
  async down(): Promise<void> {}

  /** Changes the contacts among the next ones, and returns the key of the last one; null at the end. */
  private async step(db: QueryRunner, after: [string, string]): Promise<[string, string] | null> {
    const [last] = (await db.query(
      `WITH step AS MATERIALIZED (
         SELECT tenant_id, id, name, email FROM contacts
         WHERE (tenant_id, id) > ($1, $2) ORDER BY tenant_id, id LIMIT ${STEP}
       ), composed AS (
         UPDATE contacts c SET name = normalize(c.name, NFC), email = normalize(c.email, NFC) FROM step
         WHERE c.tenant_id = step.tenant_id AND c.id = step.id
           AND (step.name IS NOT NFC NORMALIZED OR step.email IS NOT NFC NORMALIZED)
       )
       SELECT tenant_id AS "tenantId", id FROM step ORDER BY tenant_id DESC, id DESC LIMIT 1`,
      after,
    )) as { tenantId: string; id: string }[];
    return last ? [last.tenantId, last.id] : null;
  }
}
