import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A statement of the service with the values of one execution. */
export interface RecordedStatement {
  sql: string;
  /** Method that runs it. */
  place: string;
  values: (string | null | { hex: string })[];
}

/** A statement with the values of some of its executions. */
export interface ExecutedStatement {
  sql: string;
  place: string;
  executions: (string | Buffer | null)[][];
}

/** Statements that are no queries: of transactions, and those that change tables, roles or settings. */
const NO_QUERY =
  /^\s*(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|START|SET|RESET|SHOW|LOCK|VACUUM|CREATE|ALTER|DROP|GRANT|REVOKE|DO|SELECT create_distributed_table)\b/i;

/** Reads what `record-statements.ts` has written into a folder, each statement once. */
export function readStatements(folder: string): ExecutedStatement[] {
  const statements = new Map<string, ExecutedStatement>();
  for (const name of readdirSync(folder))
    for (const line of readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean)) {
      const { sql, place, values } = JSON.parse(line) as RecordedStatement;
      if (NO_QUERY.test(sql)) continue;
      const statement = statements.get(sql) ?? { sql, place, executions: [] };
      statement.executions.push(
        values.map((one) => (one && typeof one === 'object' ? Buffer.from(one.hex, 'hex') : one)),
      );
      statements.set(sql, statement);
    }
  return [...statements.values()];
}
