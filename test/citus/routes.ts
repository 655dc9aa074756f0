import { Client, DatabaseError, escapeLiteral } from 'pg';
import { ExecutedStatement } from './recorded-statements';

/** Place where Citus runs a statement, or the reason for which it does not. */
export type Route =
  | { kind: 'one shard' | 'all shards' | 'coordinator' }
  | { kind: 'refused'; because: string };

/**
 * Number of executions of a prepared statement: from the sixth on, PostgreSQL may plan without the values.
 */
const EXECUTIONS = 7;
/** SQLSTATE classes of what Citus refuses: not supported, internal error, syntax error. */
const REFUSALS = /^(0A|XX|42)/;
/** Error of rows that violate a constraint: it has the code of an internal error after INSERT … SELECT. */
const VIOLATION = /violates/;

/**
 * Finds out where Citus runs a statement: it asks for the plan and runs the statement, with each of its
 * executions' values. Some statements are refused only when they run. Nothing is kept.
 */
export async function routeOf(client: Client, { sql, executions }: ExecutedStatement): Promise<Route> {
  const routes: Route[] = [];
  for (const values of executions) {
    const call =
      values.length > 0 ? `EXECUTE recorded (${values.map(literalOf).join()})` : 'EXECUTE recorded';
    await client.query('BEGIN');
    try {
      await client.query(`PREPARE recorded AS ${sql}`);
      for (let n = 1; n <= EXECUTIONS; n++) {
        await client.query('SAVEPOINT execution');
        const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN (COSTS OFF) ${call}`);
        routes.push(routeIn(rows.map((row) => row['QUERY PLAN']).join('\n')));
        await client.query(call);
        await client.query('ROLLBACK TO execution');
      }
    } catch (error) {
      const { code = '', message } = error as DatabaseError;
      if (REFUSALS.test(code) && !VIOLATION.test(message)) return { kind: 'refused', because: message };
    } finally {
      await client.query('ROLLBACK');
      await client.query('DEALLOCATE ALL');
    }
  }
  return routes.find(({ kind }) => kind !== 'one shard') ?? { kind: 'one shard' };
}

function routeIn(plan: string): Route {
  const tasks = [...plan.matchAll(/Task Count: (\d+)/g)].map(([, count]) => Number(count));
  if (Math.max(0, ...tasks) > 1) return { kind: 'all shards' };
  return { kind: /Distributed Subplan|pull to coordinator/.test(plan) ? 'coordinator' : 'one shard' };
}

function literalOf(value: ExecutedStatement['executions'][number][number]): string {
  if (value === null) return 'NULL';
  return typeof value === 'string' ? escapeLiteral(value) : `'\\x${value.hex}'`;
}
