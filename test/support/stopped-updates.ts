import { Client } from 'pg';
import { hasLockWait } from './lock-waits';
import { waitFor } from './wait';

/** Key of the advisory lock for which an update waits; an arbitrary number. */
const GATE = 4_711;
/** SQL condition of a trigger that an update claims a row. */
export const IS_CLAIM = 'NEW.lease_id IS DISTINCT FROM OLD.lease_id AND NEW.lease_id IS NOT NULL';

export interface WatchedUpdate {
  table: string;
  /** SQL condition of a trigger. */
  when: string;
  /** Whether the process is stopped after the commit of the update, and not before its next statement. */
  atCommit?: boolean;
}

interface Databases {
  /** Connection of the owner that holds the update up. */
  gate: Client;
  service: { query<Row>(sql: string): Promise<Row[]> };
}

/** Calls `stop`, which stops a process, while the process waits for the answer to an update. */
export async function stopAfterUpdate(
  { gate, service }: Databases,
  { table, when, atCommit }: WatchedUpdate,
  work: () => Promise<unknown>,
  stop: () => void,
): Promise<void> {
  const trigger = atCommit
    ? `CONSTRAINT TRIGGER gate AFTER UPDATE ON ${table} DEFERRABLE INITIALLY DEFERRED`
    : `TRIGGER gate BEFORE UPDATE ON ${table}`;
  await gate.query(`
    SELECT pg_advisory_lock(${GATE});
    CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS $$
    BEGIN PERFORM pg_advisory_xact_lock_shared(${GATE}); RETURN NEW; END $$;
    CREATE ${trigger} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION wait_at_gate()`);
  await work();
  // A command takes seconds to start on a busy machine.
  await waitFor('the update to wait for the gate', () => hasLockWait(service), 60_000);
  stop();
  await gate.query(`SELECT pg_advisory_unlock(${GATE})`);
  await waitFor('the update to end', async () => !(await hasLockWait(service)));
}
