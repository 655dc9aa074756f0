import { MigrationInterface, QueryRunner } from 'typeorm';

/** The erasure of agents who have left: their ids stay, because messages and audit entries name them. */
export class ErasedAgents1795456800001 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE agents ADD COLUMN erased_at timestamptz');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE agents DROP COLUMN erased_at');
  }
}
