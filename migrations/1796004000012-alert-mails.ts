import { MigrationInterface, QueryRunner } from 'typeorm';

/** Mails to managers about alerts: what each has chosen, the alerts that are collected, and the mail. */
export class AlertMails1796004000012 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // owed_at is the time of a change, the opening or the end, until a worker has collected it for mails.
    await db.query('ALTER TABLE alerts ADD COLUMN owed_at timestamptz');
    // due_at is the time of the next try, or the end of the lease of the worker that is trying. No mail is
    // begun before free_at. mail_id and mail_alert_ids are those of the mail that is being sent.
    await db.query(`
      CREATE TABLE alert_mailboxes (
        tenant_id      uuid NOT NULL,
        agent_id       uuid NOT NULL,
        is_on          boolean NOT NULL DEFAULT true,
        muted_kinds    text[] NOT NULL DEFAULT '{}',
        collected_ids  uuid[] NOT NULL DEFAULT '{}',
        mail_id        uuid,
        mail_alert_ids uuid[] NOT NULL DEFAULT '{}',
        tries          smallint NOT NULL DEFAULT 0,
        due_at         timestamptz,
        free_at        timestamptz,
        PRIMARY KEY (tenant_id, agent_id),
        FOREIGN KEY (tenant_id, agent_id) REFERENCES agents (tenant_id, id)
      )`);
    await db.query(
      'CREATE INDEX alert_mailboxes_due_idx ON alert_mailboxes (due_at) WHERE due_at IS NOT NULL',
    );
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE alert_mailboxes');
    await db.query('ALTER TABLE alerts DROP COLUMN owed_at');
  }
}
