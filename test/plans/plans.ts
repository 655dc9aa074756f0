import { Client, escapeLiteral } from 'pg';
import { StatementGroup } from '../../src/database/driver/statement-group';
import { PAGE } from './rows';

/** Names of partitions and of their indexes, each with the table or index that it is a part of. */
const wholes = new Map<string, string>();

export interface PlanNode {
  'Node Type': string;
  'Index Name'?: string;
  'Relation Name'?: string;
  'Total Cost': number;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: PlanNode[];
}

interface Statement {
  sql: string;
  parameters: unknown[];
  /** True if connections keep the statement, and so may run it by a plan that is made for all values. */
  isPrepared: boolean;
}

/**
 * Reads a statement in either form in which it reaches a connection: the text and its parameters, or all in
 * one.
 */
function toStatement([query, parameters]: unknown[]): Statement {
  if (typeof query === 'string')
    return { sql: query, parameters: Array.isArray(parameters) ? parameters : [], isPrepared: false };
  const { text, values, name } = query as { text: string; values?: unknown[]; name?: string };
  return { sql: text, parameters: values ?? [], isPrepared: name !== undefined };
}

/** Reads the plans of the statements that repositories send. */
export class PlanReader {
  private readonly sentAlone = jest.spyOn(Client.prototype, 'query');
  private readonly sentInGroups = jest.spyOn(StatementGroup.prototype, 'add');

  private constructor(private readonly database: Client) {}

  static async start(databaseUrl: string): Promise<PlanReader> {
    const database = new Client({ connectionString: databaseUrl });
    await database.connect();
    return new PlanReader(database);
  }

  /** Reads which parts belong to which partitioned table or index. Call it once the tables exist. */
  async readParts(): Promise<void> {
    const { rows } = await this.database.query<{ part: string; whole: string }>(
      'SELECT inhrelid::regclass::text AS part, inhparent::regclass::text AS whole FROM pg_inherits',
    );
    for (const { part, whole } of rows) wholes.set(part, whole);
  }

  /**
   * Returns the plans of the statements that a call sends to the database and that begin like `prefix`. Each
   * is run and rolled back. A prepared statement has two plans: for its values, and for all values.
   */
  async read(call: () => Promise<unknown>, prefix = /^(SELECT|WITH|UPDATE|DELETE)/): Promise<PlanNode[]> {
    const all = await this.listSent(call);
    // Statements over queues follow a statement that sets how they are planned.
    const settings = all.find(({ sql }) => /set_config\(name/.test(sql))?.sql;
    const statements = all.filter(({ sql }) => prefix.test(sql.trim()) && !/advisory|set_config/.test(sql));
    expect(statements.length).toBeGreaterThan(0);
    const plans: PlanNode[] = [];
    for (const { sql, parameters, isPrepared } of statements) {
      plans.push(await this.explain(sql, parameters, settings));
      if (isPrepared) plans.push(await this.explainForAllValues(sql, parameters, settings));
    }
    return plans;
  }

  /** Counts the values that a call sends with its statements. */
  async countValues(call: () => Promise<unknown>): Promise<number> {
    const values = (await this.listSent(call)).flatMap(({ parameters }) => parameters);
    return values.reduce((sum: number, value) => sum + (Array.isArray(value) ? value.length : 1), 0);
  }

  /** Lists the statements that a call sends: those of transactions, and then all others. */
  private async listSent(call: () => Promise<unknown>): Promise<Statement[]> {
    this.sentInGroups.mockClear();
    this.sentAlone.mockClear();
    await call();
    const alone = this.sentAlone.mock.calls as unknown[][];
    return [
      ...this.sentInGroups.mock.calls.map(([name, sql, parameters]) => ({
        sql,
        parameters,
        isPrepared: name !== undefined,
      })),
      ...alone.filter(([query]) => !(query instanceof StatementGroup)).map(toStatement),
    ];
  }

  private async explain(sql: string, parameters: unknown[] = [], settings?: string): Promise<PlanNode> {
    await this.database.query('BEGIN');
    try {
      if (settings) await this.database.query(settings);
      const { rows } = await this.database.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ${sql}`,
        parameters,
      );
      return rows[0]!['QUERY PLAN'][0].Plan;
    } finally {
      await this.database.query('ROLLBACK');
    }
  }

  private async explainForAllValues(
    sql: string,
    parameters: unknown[],
    settings?: string,
  ): Promise<PlanNode> {
    const values = parameters.map((value) => literalOf(value));
    await this.database.query(`SET plan_cache_mode = force_generic_plan; PREPARE statement AS ${sql}`);
    try {
      return await this.explain(
        `EXECUTE statement ${values.length > 0 ? `(${values.join()})` : ''}`,
        [],
        settings,
      );
    } finally {
      await this.database.query('DEALLOCATE statement; RESET plan_cache_mode');
    }
  }

  async stop(): Promise<void> {
    this.sentAlone.mockRestore();
    this.sentInGroups.mockRestore();
    await this.database.end();
  }
}

/**
 * Expects that a page costs a page: it is read from an index in the index's order, and almost no row is read
 * in vain. Where nearly all of a tenant's rows pass the filter, the key's own order is as good.
 */
export function expectPage(plans: PlanNode[], index: string, key = index): void {
  for (const plan of plans) {
    expectInOrder(plan);
    expect([[index], [key]]).toContainEqual(indexesOf(plan));
    expect(rowsRead(plan)).toBeLessThanOrEqual(index === key ? PAGE : PAGE * 1.5);
  }
}

export function expectInOrder(plan: PlanNode): void {
  const types = runNodesOf(plan).map((node) => node['Node Type']);
  for (const type of ['Seq Scan', 'Sort', 'Incremental Sort', 'Bitmap Heap Scan']) {
    expect(types).not.toContain(type);
  }
}

export function expectOnlyIndexed(plan: PlanNode, tables: string[]): void {
  const scanned = scansOf(plan).filter((node) => tables.includes(wholeOf(node['Relation Name'] ?? '')));
  expect(scanned.map((node) => node['Node Type'])).not.toContain('Seq Scan');
}

/** Returns a parameter in the form that it has in a text of SQL. */
function literalOf(value: unknown): string {
  if (value === null) return 'NULL';
  if (Buffer.isBuffer(value)) return escapeLiteral(`\\x${value.toString('hex')}`);
  if (value instanceof Date) return escapeLiteral(value.toISOString());
  if (Array.isArray(value)) return escapeLiteral(`{${value.map(elementOf).join()}}`);
  return escapeLiteral(`${value as string | number}`);
}

/** Returns a value in the form that it has in an array's literal. */
function elementOf(value: unknown): string {
  if (value === null) return 'NULL';
  if (value instanceof Date) return `"${value.toISOString()}"`;
  return JSON.stringify(`${value as string | number}`);
}

export function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

/** Returns the nodes of a plan that were run: without partitions that the statement passed over. */
function runNodesOf(plan: PlanNode): PlanNode[] {
  return nodesOf(plan).filter((node) => node['Actual Loops'] > 0);
}

/** Returns the partitioned table or index that a part belongs to, or else the name itself. */
function wholeOf(name: string): string {
  return wholes.get(name) ?? name;
}

function scansOf(plan: PlanNode): PlanNode[] {
  return runNodesOf(plan).filter((node) => node['Node Type'].endsWith('Scan'));
}

export function indexesOf(plan: PlanNode): string[] {
  return runNodesOf(plan).flatMap((node) => (node['Index Name'] ? wholeOf(node['Index Name']) : []));
}

/** Returns the indexes that were read: without those that the plan has and its run did not need. */
export function indexesRead(plan: PlanNode): string[] {
  return [...new Set(runNodesOf(plan).flatMap((node) => node['Index Name'] ?? []))].sort();
}

/** Counts the rows of tables that were looked at, whether or not they were wanted. */
export function rowsRead(plan: PlanNode): number {
  return scansOf(plan)
    .filter((node) => node['Relation Name'])
    .map(
      (node) =>
        (node['Actual Rows'] +
          (node['Rows Removed by Filter'] ?? 0) +
          (node['Rows Removed by Index Recheck'] ?? 0)) *
        node['Actual Loops'],
    )
    .reduce((sum, rows) => sum + rows, 0);
}

/** Counts the buffers that plans read, whether or not they were in memory. */
export function buffersRead(plans: PlanNode[]): number {
  return plans.reduce((sum, plan) => sum + plan['Shared Hit Blocks'] + plan['Shared Read Blocks'], 0);
}
