import { MigrationInterface, QueryRunner } from 'typeorm';
import { createPartitions } from './support/partitions';

/** The outbox of domain events, and the audit log. */
export class Outbox1795305600002 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // The history of events. json, not jsonb: receivers get an event's data exactly as written, and no query reads it.
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
    await createPartitions(db, 'events');
    // Events that not every consumer has dealt with. queued_at is the database's time: an endpoint takes only events
    // that were queued after its activation. Half of each page is left free, so that a lease is written in place.
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
    // Events that a consumer could not take in. They wait for an operator.
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
    await db.query(`
      CREATE TABLE audit_entries (
        tenant_id  uuid NOT NULL REFERENCES workspaces (id),
        id         uuid NOT NULL,
        action     text NOT NULL,
        entity     text NOT NULL,
        entity_id  text NOT NULL,
        actor_type text NOT NULL CHECK (actor_type IN ('agent', 'api_key', 'system')),
        actor_id   uuid,
        metadata   jsonb NOT NULL DEFAULT '{}',
        created_at timestamptz NOT NULL,
        PRIMARY KEY (tenant_id, id),
        CHECK ((actor_type = 'system') = (actor_id IS NULL))
      )`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP TABLE audit_entries, parked_events, event_queue, events');
  }
}
