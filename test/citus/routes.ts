import { Client, DatabaseError } from 'pg';
import { ExecutedStatement } from './recorded-statements';

/** Place where Citus runs a statement, or the reason for which it does not. */
export type Route =
  | { kind: 'one shard' | 'all shards' | 'coordinator' }
  | { kind: 'refused'; because: string };

/** SQLSTATE classes of what Citus refuses: not supported, internal error, syntax error. */
const REFUSALS = /^(0A|XX|42)/;
/** Error of a statement that names a partition of a test's own. */
const UNKNOWN_TABLE = '42P01';
/** Error of EXPLAIN for INSERT … SELECT with parameters, which runs all the same, through the coordinator. */
const UNEXPLAINED = 'could not create distributed plan';
/** Error of rows that violate a constraint: it has the code of an internal error after INSERT … SELECT. */
const VIOLATION = /violates/;

/**
 * Finds out where Citus runs a statement: it asks for the plan and runs the statement, with each of its
 * executions' values. Some statements are refused only when they run. Nothing is kept.
 */
export async function routeOf(client: Client, statement: ExecutedStatement): Promise<Route> {
  const routes: Route[] = [];
  for (const values of statement.executions) routes.push(...(await run(client, statement.sql, values)));
  return (
    routes.find(({ kind }) => kind === 'refused') ??
    routes.find(({ kind }) => kind !== 'one shard') ?? { kind: 'one shard' }
  );
}

async function run(client: Client, sql: string, values: unknown[]): Promise<Route[]> {
  await client.query('BEGIN');
  try {
    await client.query('SAVEPOINT unexplained');
    const route = await explain(client, sql, values);
    await client.query('ROLLBACK TO unexplained');
    await client.query(sql, values);
    return [route];
  } catch (error) {
    const { code = '', message } = error as DatabaseError;
    const isRefused = REFUSALS.test(code) && code !== UNKNOWN_TABLE && !VIOLATION.test(message);
    return isRefused ? [{ kind: 'refused', because: message }] : [];
  } finally {
    await client.query('ROLLBACK');
  }
}

async function explain(client: Client, sql: string, values: unknown[]): Promise<Route> {
  try {
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN (COSTS OFF) ${sql}`, values);
    return routeIn(rows.map((row) => row['QUERY PLAN']).join('\n'));
  } catch (error) {
    if ((error as DatabaseError).message === UNEXPLAINED) return { kind: 'coordinator' };
    throw error;
  }
}

function routeIn(plan: string): Route {
  const tasks = [...plan.matchAll(/Task Count: (\d+)/g)].map(([, count]) => Number(count));
  if (Math.max(0, ...tasks) > 1) return { kind: 'all shards' };
  return { kind: /Distributed Subplan|pull to coordinator/.test(plan) ? 'coordinator' : 'one shard' };
}
