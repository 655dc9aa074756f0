import { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Actors who made an endpoint and who set its URL last: a type, with the id of an agent or key. Null for
 * endpoints that were made before.
 */
export class EndpointMakers1795800300000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`ALTER TABLE webhook_endpoints
      ADD COLUMN made_by_type text, ADD COLUMN made_by_id uuid,
      ADD COLUMN url_set_by_type text, ADD COLUMN url_set_by_id uuid`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`ALTER TABLE webhook_endpoints
      DROP COLUMN made_by_type, DROP COLUMN made_by_id, DROP COLUMN url_set_by_type, DROP COLUMN url_set_by_id`);
  }
}
