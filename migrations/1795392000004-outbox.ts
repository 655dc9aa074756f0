import { MigrationInterface, QueryRunner } from 'typeorm';
import { createPartitions } from './support/partitions';

/** The outbox: the history of events, their queue, and events that a consumer could not take in. */
export class Outbox1795392000004 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // data is json, not jsonb: receivers get it exactly as written.
    await db.query(`
      CREATE TABLE events (
        tenant_id  uuid NOT NULL,
        id         uuid NOT NULL,
        type       text NOT NULL,
        data       json NOT NULL,
        sequence   bigint,
        created_at timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, id)
      ) PARTITION BY RANGE (id)`);
    await db.query(`
      CREATE INDEX events_conversation_idx ON events (tenant_id, (data->>'conversationId'), id)
      WHERE data->>'conversationId' IS NOT NULL`);
    await createPartitions(db, 'events');
    // Events that are not processed by every consumer yet. queued_at is the database's time: an endpoint
    // takes only events that were queued after its activation. Half of each page is left free, so that a
    // lease is written in place.
    await db.query(`
      CREATE TABLE event_queue (
        tenant_id   uuid NOT NULL,
        event_id    uuid NOT NULL,
        queued_at   timestamptz NOT NULL DEFAULT now(),
        lease_id    uuid,
        lease_until timestamptz,
        PRIMARY KEY (tenant_id, event_id)
      ) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0,
              autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_threshold = 1000000000)`);
    // Parked events wait for an operator, whose request a worker carries out.
    await db.query(`
      CREATE TABLE parked_events (
        tenant_id uuid NOT NULL,
        event_id  uuid NOT NULL,
        consumer  text NOT NULL,
        error     text NOT NULL,
        queued_at timestamptz NOT NULL,
        parked_at timestamptz NOT NULL DEFAULT now(),
        request   text CHECK (request IN ('RETRY', 'GIVE_UP')),
        PRIMARY KEY (tenant_id, event_id, consumer)
      )`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE parked_events, event_queue, events');
  }
}
