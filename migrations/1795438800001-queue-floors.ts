import { MigrationInterface, QueryRunner } from 'typeorm';

/** The floors of the queues, which let a worker begin where live rows may be. */
export class QueueFloors1795438800001 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // A part of a queue, which is that of a workspace, an endpoint or a connection, and the time before which
    // it has no live row. Workers write a row once a minute, because a snapshot that is held open keeps the
    // dead rows of this table, too.
    await db.query(`
      CREATE TABLE queue_floors (
        tenant_id uuid NOT NULL,
        queue     text NOT NULL,
        part      text NOT NULL,
        floor     timestamptz NOT NULL,
        saved_at  timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, queue, part)
      )`);
    await db.query('CREATE INDEX queue_floors_saved_at_idx ON queue_floors (saved_at)');
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE queue_floors');
  }
}
