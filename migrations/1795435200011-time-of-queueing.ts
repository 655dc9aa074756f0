import { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Has an event queued when it is inserted, not when its transaction began: the transaction may have waited
 * for its conversation, and an endpoint that was activated in that time gets the event.
 */
export class TimeOfQueueing1795435200011 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE event_queue ALTER COLUMN queued_at SET DEFAULT clock_timestamp()');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('ALTER TABLE event_queue ALTER COLUMN queued_at SET DEFAULT now()');
  }
}
