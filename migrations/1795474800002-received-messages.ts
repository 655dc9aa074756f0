import { MigrationInterface, QueryRunner } from 'typeorm';

/** Time of the latest message that a channel connection got of a customer. */
export class ReceivedMessages1795474800002 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE channel_connections ADD COLUMN last_received_at timestamptz');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE channel_connections DROP COLUMN last_received_at');
  }
}
