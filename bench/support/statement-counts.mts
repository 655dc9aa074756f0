import type { Deployment } from './deployment.mts';

/**
 * Settings of a PostgreSQL server that can count statements. It counts the statements of no database by
 * default.
 */
export const STATEMENT_COUNTS = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track': 'none',
};

/** Counts of one statement: executions, how often it was planned, and the time of both in milliseconds. */
export interface StatementCount {
  text: string;
  calls: number;
  plans: number;
  ms: number;
}

/**
 * Has PostgreSQL count the statements of connections that are opened from now on.
 * @returns whether it can: another server than the benchmark's own may lack the extension
 */
export async function countStatements({ pool, database }: Deployment): Promise<boolean> {
  const { rows } = await pool.query<{ libraries: string }>(
    "SELECT current_setting('shared_preload_libraries') AS libraries",
  );
  if (!rows[0]?.libraries.includes('pg_stat_statements')) return false;
  await pool.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
  await pool.query(`ALTER DATABASE ${database} SET pg_stat_statements.track = 'top'`);
  await pool.query(`ALTER DATABASE ${database} SET pg_stat_statements.track_planning = on`);
  return true;
}

export async function forgetStatements({ pool }: Deployment): Promise<void> {
  await pool.query('SELECT pg_stat_statements_reset()');
}

/** Lists the counted statements, those with the most time first. */
export function listStatements(deployment: Deployment): Promise<StatementCount[]> {
  return deployment.query(
    `SELECT query AS text, sum(calls)::float8 AS calls, sum(plans)::float8 AS plans,
            sum(total_exec_time + total_plan_time) AS ms
     FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
     GROUP BY query ORDER BY ms DESC`,
  );
}
