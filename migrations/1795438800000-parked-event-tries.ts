import { MigrationInterface, QueryRunner } from 'typeorm';

/** The time of the next try of what an operator has requested for a parked event. */
export class ParkedEventTries1795438800000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // A try that the world has made fail is followed by a later one, behind the requests that wait.
    await db.query('ALTER TABLE parked_events ADD COLUMN try_at timestamptz NOT NULL DEFAULT now()');
    await db.query(
      'CREATE INDEX parked_events_requested_idx ON parked_events (try_at) WHERE request IS NOT NULL',
    );
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP INDEX parked_events_requested_idx');
    await db.query('ALTER TABLE parked_events DROP COLUMN try_at');
  }
}
