import { MigrationInterface, QueryRunner } from 'typeorm';

/** The message that another one repeats, because it was not delivered, or perhaps not. */
export class RepeatedMessages1795487000000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE messages ADD COLUMN repeats_id uuid');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE messages DROP COLUMN repeats_id');
  }
}
