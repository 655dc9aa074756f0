import { MigrationInterface, QueryRunner } from 'typeorm';

/** Alerts: states of a workspace's settings that its owners must know. One row a subject is open. */
export class Alerts1795903000001 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE alerts (
        tenant_id    uuid NOT NULL REFERENCES workspaces (id),
        id           uuid NOT NULL,
        kind         text NOT NULL,
        subject_id   uuid NOT NULL,
        opened_at    timestamptz NOT NULL,
        resolved_at  timestamptz,
        told_at      timestamptz,
        PRIMARY KEY (tenant_id, id)
      )`);
    await db.query(`
      CREATE UNIQUE INDEX alerts_open_key ON alerts (tenant_id, kind, subject_id) WHERE resolved_at IS NULL`);
    await db.query('CREATE INDEX alerts_resolved_idx ON alerts (resolved_at) WHERE resolved_at IS NOT NULL');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE alerts');
  }
}
