import { MigrationInterface, QueryRunner } from 'typeorm';

/** Contacts, how channels know them, and the index that finds a part of a name, address or number. */
export class Contacts1795392000005 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await this.requireUtf8(db);
    // verified names the fields that the workspace's server has signed for a visitor of its widget.
    // search_text holds a line for each searched value; U&'\\0001' marks the line with the phone's digits.
    await db.query(`
      CREATE TABLE contacts (
        tenant_id   uuid NOT NULL REFERENCES workspaces (id),
        id          uuid NOT NULL,
        name        text,
        email       text,
        phone       text,
        avatar_url  text,
        attributes  jsonb NOT NULL DEFAULT '{}',
        verified    text[] NOT NULL DEFAULT '{}',
        search_text text NOT NULL GENERATED ALWAYS AS (
          lower(coalesce(name, '') || E'\\n' || coalesce(email, '') || E'\\n' || coalesce(phone, ''))
          || E'\\n\\x01' || regexp_replace(coalesce(phone, ''), '[^0-9]', '', 'g')
        ) STORED,
        created_at  timestamptz NOT NULL,
        updated_at  timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, id)
      )`);
    await this.createSearchIndex(db);
    await db.query(`
      CREATE TABLE contact_identities (
        tenant_id   uuid NOT NULL,
        channel     text NOT NULL,
        external_id text NOT NULL,
        contact_id  uuid NOT NULL,
        created_at  timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, channel, external_id),
        FOREIGN KEY (tenant_id, contact_id) REFERENCES contacts (tenant_id, id)
      )`);
    await db.query(
      `CREATE INDEX contact_identities_contact_idx ON contact_identities (tenant_id, contact_id)`,
    );
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE contact_identities, contacts');
    await db.query('DROP FUNCTION search_grams');
  }

  /**
   * Makes the index of grams: three characters in a row, or five. Grams of five are rare, which makes a
   * search fast; to save space only half of them are kept, by the hash of their first three. A gram is hashed
   * with its workspace, so that a search reads no entry of another workspace.
   */
  private async createSearchIndex(db: QueryRunner): Promise<void> {
    // For a searched term it returns the grams of five alone, if there are any. Its cost and the missing
    // PARALLEL SAFE make the planner use the index, in one process; a higher cost would make it compile each
    // search (`jit`).
    await db.query(`
      CREATE FUNCTION search_grams(tenant_id uuid, content text, of_term boolean) RETURNS bigint[]
      LANGUAGE plpgsql IMMUTABLE STRICT COST 2000 AS $$
      DECLARE
        seed bigint := hashtextextended(tenant_id::text, 0);
        size integer := length(content);
        gram bigint;
        short bigint[] := '{}';
        long bigint[] := '{}';
      BEGIN
        FOR i IN 1 .. size - 2 LOOP
          gram := hashtextextended(substr(content, i, 3), seed);
          short[i] := gram;
          IF gram & 1 = 0 AND i <= size - 4 THEN
            long := long || hashtextextended(substr(content, i, 5), seed);
          END IF;
        END LOOP;
        IF of_term AND long <> '{}' THEN RETURN long; END IF;
        RETURN short || long;
      END $$`);
    // Every search reads the list of pending entries from end to end, so it is kept short.
    await db.query(`
      CREATE INDEX contacts_search_idx ON contacts USING gin (search_grams(tenant_id, search_text, false))
      WITH (gin_pending_list_limit = 256)`);
    // Searches are planned without statistics, and ANALYZE would run the function for its whole sample.
    await db.query('ALTER INDEX contacts_search_idx ALTER COLUMN 1 SET STATISTICS 0');
  }

  /** Refuses a database of another encoding, or with the "C" character type, in which search misses Ë. */
  private async requireUtf8(db: QueryRunner): Promise<void> {
    const [{ folds }] = (await db.query(
      `SELECT pg_encoding_to_char(encoding) = 'UTF8' AND lower('Ë') = 'ë' AS folds
       FROM pg_database WHERE datname = current_database()`,
    )) as [{ folds: boolean }];
    if (!folds) throw new Error('The database must be UTF-8 with a UTF-8 character type (such as C.UTF-8)');
  }
}
