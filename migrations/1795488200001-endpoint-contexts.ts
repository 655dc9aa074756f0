import { MigrationInterface, QueryRunner } from 'typeorm';

/** The parts of the context that an endpoint's deliveries have; null for none. */
export class EndpointContexts1795488200001 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE webhook_endpoints ADD COLUMN context_parts text[]');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE webhook_endpoints DROP COLUMN context_parts');
  }
}
