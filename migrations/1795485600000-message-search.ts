import { MigrationInterface, QueryRunner } from 'typeorm';

/** The index of the words of messages, and how far each workspace's is filled. */
export class MessageSearch1795485600000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // One row lets one worker at a time change the index of a workspace, and an erasure wait for it.
    await db.query(`
      CREATE TABLE message_search_progress (
        tenant_id             uuid PRIMARY KEY REFERENCES workspaces (id),
        first_id              uuid NOT NULL,
        indexed_until         uuid NOT NULL,
        newer                 bigint NOT NULL DEFAULT 0,
        older                 bigint NOT NULL DEFAULT 0,
        stage                 text NOT NULL CHECK (stage IN ('CLEAR', 'LIST', 'FILL', 'DONE')),
        position_conversation uuid NOT NULL,
        position_message      uuid NOT NULL
      )`);
    await db.query(`
      CREATE TABLE message_search (
        tenant_id       uuid NOT NULL,
        message_id      uuid NOT NULL,
        conversation_id uuid NOT NULL,
        bucket          integer,
        terms           bigint[],
        PRIMARY KEY (tenant_id, message_id),
        CHECK ((bucket IS NULL) = (terms IS NULL))
      )`);
    // A list of pending entries would be read by each search, for each bucket.
    await db.query(`
      CREATE INDEX message_search_terms_idx ON message_search USING gin (terms) WITH (fastupdate = off)
      WHERE terms IS NOT NULL`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE message_search');
    await db.query('DROP TABLE message_search_progress');
  }
}
