import { PoolClient } from 'pg';
import { DatabaseClient } from '../../src/database/driver/database-client';
import { DatabasePool } from '../../src/database/driver/database-pool';
import { Random } from '../chaos/random';
import { letTimePass } from '../support/wait';

const PAUSE_MS = { least: 500, most: 1_500 };

/**
 * Database clients of many processes: each has its connections, and runs a statement on each of them about
 * once a second.
 */
export class Crowd {
  private isOver = false;
  private readonly statements: Promise<number[]>;

  /**
   * Starts the clients.
   * @param pools one for each process
   */
  constructor(
    private readonly pools: DatabasePool[],
    connections: number,
  ) {
    const clients = pools.flatMap((pool, process) =>
      Array.from({ length: connections }, (_, connection) =>
        this.run(pool, new Random(process * connections + connection)),
      ),
    );
    this.statements = Promise.all(clients);
    this.statements.catch(() => undefined); // stop() reports it
  }

  /**
   * Stops the clients.
   * @returns how many statements each client ran
   */
  async stop(): Promise<number[]> {
    this.isOver = true;
    try {
      return await this.statements;
    } finally {
      await Promise.all(this.pools.map((pool) => pool.end()));
    }
  }

  private async run(pool: DatabasePool, random: Random): Promise<number> {
    const client = (await pool.connect()) as PoolClient & DatabaseClient;
    try {
      let count = 0;
      for (; !this.isOver; count++) {
        await add(client, random.between(0, 1_000), count);
        await letTimePass(random.between(PAUSE_MS.least, PAUSE_MS.most));
      }
      return count;
    } finally {
      client.release();
    }
  }
}

/** Runs a statement, and fails when it gets the answer to another client's statement. */
async function add(client: DatabaseClient, a: number, b: number): Promise<void> {
  const { rows } = await client.runPrepared<{ sum: number }>('SELECT $1::int + $2::int AS sum', [a, b]);
  if (rows[0]!.sum !== a + b) throw new Error(`${a} + ${b} was answered with ${rows[0]!.sum}`);
}
