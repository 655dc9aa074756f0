import { MigrationInterface, QueryRunner } from 'typeorm';

/** Suspended workspaces, and workspaces that are being deleted. */
export class WorkspaceLife1795305600007 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // While suspended_at is set, nothing is sent. From resumed_at on, endpoints have their five days anew.
    await db.query(
      'ALTER TABLE workspaces ADD COLUMN suspended_at timestamptz, ADD COLUMN resumed_at timestamptz',
    );
    // Of the few that are suspended: polls ask it for each target.
    await db.query('CREATE INDEX workspaces_suspended_idx ON workspaces (id) WHERE suspended_at IS NOT NULL');
    // was_suspended: also before, so a cancelled deletion does not resume it. started_at: from then on rows go. Of the
    // table "position" is the key of the last row that was deleted.
    await db.query(`
      CREATE TABLE workspace_deletions (
        tenant_id     uuid PRIMARY KEY REFERENCES workspaces (id),
        requested_at  timestamptz NOT NULL,
        due_at        timestamptz NOT NULL,
        was_suspended boolean NOT NULL,
        started_at    timestamptz,
        table_name    text,
        position      text[],
        deleted_rows  bigint NOT NULL DEFAULT 0
      )`);
    await db.query('CREATE INDEX workspace_deletions_due_idx ON workspace_deletions (due_at)');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE workspace_deletions');
    await db.query('ALTER TABLE workspaces DROP COLUMN suspended_at, DROP COLUMN resumed_at');
  }
}
