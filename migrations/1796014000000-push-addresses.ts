import { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Addresses at which push services take notices for the browsers of people who log in. An address goes with
 * its login session.
 */
export class PushAddresses1796014000000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE push_addresses (
        session_id         uuid PRIMARY KEY REFERENCES login_sessions (id) ON DELETE CASCADE,
        person_id          uuid NOT NULL REFERENCES people (id) ON DELETE CASCADE,
        endpoint_hash      bytea NOT NULL CONSTRAINT push_addresses_endpoint_hash_key UNIQUE,
        address_key_id     text NOT NULL,
        address_ciphertext bytea NOT NULL,
        created_at         timestamptz NOT NULL,
        last_ok_at         timestamptz
      )`);
    await db.query('CREATE INDEX push_addresses_person_id_idx ON push_addresses (person_id)');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE push_addresses');
  }
}
