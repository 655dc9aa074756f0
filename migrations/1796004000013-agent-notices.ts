import { MigrationInterface, QueryRunner } from 'typeorm';

/** Notices to agents who are not there: what each agent has chosen, and the notices. */
export class AgentNotices1796004000013 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE agent_notice_choices (
        tenant_id          uuid NOT NULL,
        agent_id           uuid NOT NULL,
        mail_matters       text[] NOT NULL,
        mail_after_minutes smallint NOT NULL,
        push_matters       text[] NOT NULL,
        push_after_minutes smallint NOT NULL,
        mail_refused_at    timestamptz,
        updated_at         timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, agent_id),
        FOREIGN KEY (tenant_id, agent_id) REFERENCES agents (tenant_id, id)
      )`);
    // due_at is the time of the next try, or the end of the lease of the worker that is trying. sending_id is
    // the id of the mail or push message with which the notice goes out, from the first try on.
    await db.query(`
      CREATE TABLE agent_notices (
        tenant_id       uuid NOT NULL,
        id              uuid NOT NULL,
        agent_id        uuid NOT NULL,
        way             text NOT NULL CHECK (way IN ('MAIL', 'PUSH')),
        conversation_id uuid NOT NULL,
        matter          text NOT NULL CHECK (matter IN ('MINE', 'NOBODYS', 'ASSIGNMENT')),
        subject_id      uuid NOT NULL,
        sending_id      uuid,
        tries           smallint NOT NULL DEFAULT 0,
        due_at          timestamptz,
        sent_at         timestamptz,
        created_at      timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, id),
        UNIQUE (tenant_id, conversation_id, agent_id, way),
        FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations (tenant_id, id),
        FOREIGN KEY (tenant_id, agent_id) REFERENCES agents (tenant_id, id)
      )`);
    await db.query('CREATE INDEX agent_notices_due_idx ON agent_notices (due_at) WHERE due_at IS NOT NULL');
    await db.query('CREATE INDEX agent_notices_agent_idx ON agent_notices (tenant_id, agent_id, way)');
    await db.query('CREATE INDEX agent_notices_created_idx ON agent_notices (created_at)');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE agent_notices, agent_notice_choices');
  }
}
