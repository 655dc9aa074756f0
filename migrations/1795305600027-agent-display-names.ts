import { MigrationInterface, QueryRunner } from 'typeorm';

/** By what name customers know an agent. */
export class AgentDisplayNames1795305600027 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE agents ADD COLUMN display_name text');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE agents DROP COLUMN display_name');
  }
}
