import { Client } from 'pg';

/**
 * Opens a connection whose idle transaction holds a snapshot, as a backup's does. PostgreSQL keeps all rows
 * that die from now on, until the connection ends.
 */
export async function holdSnapshot(databaseUrl: string): Promise<Client> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('SET idle_in_transaction_session_timeout = 0');
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await client.query('SELECT FROM event_queue LIMIT 1');
  return client;
}
