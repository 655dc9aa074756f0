import { Client } from 'pg';
import { nodeUrlsOf, TestStores } from './test-database';

/**
 * An advisory lock that a test holds on each server of its database. On Citus a trigger waits for it on the
 * node that has the row.
 */
export class AdvisoryLock {
  private constructor(private readonly clients: Client[]) {}

  /** Takes the lock of a key, or of two keys. */
  static async take(stores: TestStores, ...keys: [number, number?]): Promise<AdvisoryLock> {
    const clients = nodeUrlsOf(stores).map((connectionString) => new Client({ connectionString }));
    for (const client of clients) {
      await client.connect();
      await client.query(`SELECT pg_advisory_lock(${keys.join()})`);
    }
    return new AdvisoryLock(clients);
  }

  /** Gives the lock back. */
  async release(): Promise<void> {
    for (const client of this.clients) await client.end();
  }
}
