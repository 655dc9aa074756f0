import { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * People who log in, and their memberships of workspaces. A person's own rows belong to no workspace, and
 * their tables are small. Only the SHA-256 of a token is stored.
 */
export class Logins1795392000013 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // email is in lower case: the service makes it so.
    await db.query(`
      CREATE TABLE people (
        id                uuid PRIMARY KEY,
        email             text NOT NULL CONSTRAINT people_email_key UNIQUE,
        name              text NOT NULL,
        locale            text CHECK (locale IN ('en', 'de')),
        theme             text NOT NULL CHECK (theme IN ('auto', 'light', 'dark')),
        password_hash     text NOT NULL,
        created_at        timestamptz NOT NULL,
        last_logged_in_at timestamptz
      )`);
    await db.query('CREATE INDEX people_created_at_idx ON people (created_at)');
    await db.query(`
      CREATE TABLE memberships (
        tenant_id  uuid NOT NULL REFERENCES workspaces (id),
        agent_id   uuid NOT NULL,
        person_id  uuid NOT NULL REFERENCES people (id),
        created_at timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, agent_id),
        UNIQUE (tenant_id, person_id),
        FOREIGN KEY (tenant_id, agent_id) REFERENCES agents (tenant_id, id)
      )`);
    await db.query('CREATE INDEX memberships_person_id_idx ON memberships (person_id)');
    // An agent has one invitation at a time: a new one replaces it.
    await db.query(`
      CREATE TABLE invitations (
        tenant_id  uuid NOT NULL REFERENCES workspaces (id),
        id         uuid NOT NULL,
        agent_id   uuid NOT NULL,
        hash       bytea NOT NULL,
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, id),
        UNIQUE (tenant_id, agent_id),
        UNIQUE (tenant_id, hash),
        FOREIGN KEY (tenant_id, agent_id) REFERENCES agents (tenant_id, id)
      )`);
    await db.query('CREATE INDEX invitations_expires_at_idx ON invitations (expires_at)');
    await this.createTablesOfPeople(db);
  }

  private async createTablesOfPeople(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE login_sessions (
        id           uuid PRIMARY KEY,
        person_id    uuid NOT NULL REFERENCES people (id) ON DELETE CASCADE,
        hash         bytea NOT NULL CONSTRAINT login_sessions_hash_key UNIQUE,
        address      text,
        user_agent   text,
        created_at   timestamptz NOT NULL,
        last_used_at timestamptz NOT NULL,
        expires_at   timestamptz NOT NULL
      )`);
    await db.query('CREATE INDEX login_sessions_person_id_idx ON login_sessions (person_id, id)');
    await db.query('CREATE INDEX login_sessions_expires_at_idx ON login_sessions (expires_at)');
    // Logins whose password was right, and whose code is missing.
    await db.query(`
      CREATE TABLE pending_logins (
        hash          bytea PRIMARY KEY,
        person_id     uuid NOT NULL REFERENCES people (id) ON DELETE CASCADE,
        browser_id    uuid,
        attempt_count smallint NOT NULL,
        expires_at    timestamptz NOT NULL
      )`);
    await db.query('CREATE INDEX pending_logins_person_id_idx ON pending_logins (person_id)');
    await db.query('CREATE INDEX pending_logins_expires_at_idx ON pending_logins (expires_at)');
    await db.query(`
      CREATE TABLE known_browsers (
        id         uuid PRIMARY KEY,
        person_id  uuid NOT NULL REFERENCES people (id) ON DELETE CASCADE,
        hash       bytea NOT NULL,
        expires_at timestamptz NOT NULL,
        UNIQUE (person_id, hash)
      )`);
    await db.query('CREATE INDEX known_browsers_expires_at_idx ON known_browsers (expires_at)');
    await db.query(`
      CREATE TABLE password_resets (
        hash       bytea PRIMARY KEY,
        person_id  uuid NOT NULL REFERENCES people (id) ON DELETE CASCADE,
        expires_at timestamptz NOT NULL
      )`);
    await db.query('CREATE INDEX password_resets_person_id_idx ON password_resets (person_id)');
    await db.query('CREATE INDEX password_resets_expires_at_idx ON password_resets (expires_at)');
    // last_step is the step of the last code that was used: a code is good once. An unconfirmed factor counts
    // for nothing.
    await db.query(`
      CREATE TABLE second_factors (
        person_id         uuid PRIMARY KEY REFERENCES people (id) ON DELETE CASCADE,
        secret_key_id     text NOT NULL,
        secret_ciphertext bytea NOT NULL,
        last_step         bigint NOT NULL DEFAULT 0,
        confirmed_at      timestamptz
      )`);
    await db.query(`
      CREATE TABLE recovery_codes (
        person_id uuid NOT NULL REFERENCES people (id) ON DELETE CASCADE,
        hash      bytea NOT NULL,
        PRIMARY KEY (person_id, hash)
      )`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE recovery_codes, second_factors, password_resets, known_browsers');
    await db.query('DROP TABLE pending_logins, login_sessions, invitations, memberships, people');
  }
}
