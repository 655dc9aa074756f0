import { loadParser } from './postgres-parser.mjs';
import { HOLE, SqlText } from './sql-texts';

type Tree = { [key: string]: unknown };

/**
 * Way in which the rows of one workspace are found in a table: by a parameter, by another table's tenant, or
 * not at all.
 */
export type StatementScope = 'parameter' | 'join' | 'none';

/** Use of a table in one place of a statement. */
export interface TableUse {
  table: string;
  action: 'read' | 'lock' | 'insert' | 'update' | 'delete' | 'truncate';
  scope: StatementScope;
}

export interface Statement extends Omit<SqlText, 'texts'> {
  sql: string;
  uses: TableUse[];
  /** Tables that the statement makes, without partitions. */
  creates: { table: string; columns: string[] }[];
}

/** Stands for the name of a table or column that is only known at run time. */
export const UNKNOWN = 'known_at_run_time';
const FILLINGS = [UNKNOWN, '', '1', 'TRUE', '(id)', `${UNKNOWN} = 1`, 'VALUES (1)'];
const MAX_HOLES = 6;
const SCOPES: StatementScope[] = ['none', 'join', 'parameter'];

/**
 * Parses SQL with PostgreSQL's own parser.
 * @throws Error when a text is no SQL, whatever stands in its holes
 */
export async function parseStatements(found: SqlText[]): Promise<Statement[]> {
  const parser = await loadParser();
  return found.flatMap(({ texts, ...at }) =>
    texts.map((text) => {
      const { sql, tree } = parse(text, parser, `${at.file} ${at.place}`);
      return { ...at, sql, uses: usesOf(tree), creates: createdBy(tree) };
    }),
  );
}

function parse(text: string, parser: (sql: string) => Tree, where: string): { sql: string; tree: Tree } {
  const pieces = text.replaceAll(`$${HOLE}`, '$1').split(HOLE);
  let failure: unknown;
  for (const fillings of combinations(Math.min(pieces.length - 1, MAX_HOLES))) {
    const sql = pieces.reduce((start, piece, n) => start + (fillings[n - 1] ?? UNKNOWN) + piece);
    try {
      return { sql, tree: parser(sql) };
    } catch (error) {
      failure ??= error;
    }
  }
  throw new Error(`${where}: ${(failure as Error).message} in ${text}`);
}

function combinations(count: number): string[][] {
  if (count <= 0) return [[]];
  const uniform = FILLINGS.map((filling) => Array<string>(count).fill(filling));
  return [
    ...uniform,
    ...combinations(count - 1).flatMap((rest) => FILLINGS.map((filling) => [filling, ...rest])),
  ];
}

function usesOf(tree: Tree): TableUse[] {
  const parts = new Set<string>();
  visit(tree, (kind, node) => {
    if (kind === 'CommonTableExpr') parts.add(node.ctename as string);
  });
  const uses: TableUse[] = [];
  visit(tree, (kind, node) => {
    if (kind === 'SelectStmt') uses.push(...usesOfSelect(node, parts));
    else if (kind === 'UpdateStmt') uses.push(...usesOfWrite(node, 'update', node.fromClause, parts));
    else if (kind === 'DeleteStmt') uses.push(...usesOfWrite(node, 'delete', node.usingClause, parts));
    else if (kind === 'InsertStmt' || kind === 'MergeStmt' || kind === 'CopyStmt')
      uses.push({ table: nameOf(node.relation as Tree), action: 'insert', scope: 'parameter' });
    else if (kind === 'TruncateStmt' || kind === 'LockStmt')
      for (const { node: table } of within(node.relations, 'RangeVar'))
        uses.push({ table: nameOf(table), action: kind === 'LockStmt' ? 'lock' : 'truncate', scope: 'none' });
  });
  return uses;
}

function createdBy(tree: Tree): Statement['creates'] {
  return within(tree, 'CreateStmt')
    .filter(({ node }) => !node.partbound)
    .map(({ node }) => ({
      table: nameOf(node.relation as Tree),
      columns: within(node.tableElts, 'ColumnDef').map((column) => column.node.colname as string),
    }));
}

/**
 * Returns the uses of tables in a SELECT.
 * @param parts names of the statement's own parts (WITH), which are no tables
 */
function usesOfSelect(select: Tree, parts: Set<string>): TableUse[] {
  const { tables, conditions } = scopeOf(select.fromClause, select.whereClause, parts);
  const clauses = ((select.lockingClause ?? []) as Tree[]).map((one) => one.LockingClause as Tree);
  const isLocked = (alias: string) =>
    clauses.some(
      ({ lockedRels }) =>
        !lockedRels || within(lockedRels, 'RangeVar').some(({ node }) => nameOf(node) === alias),
    );
  return tables.map(({ table, alias }) => ({
    table,
    action: isLocked(alias) ? 'lock' : 'read',
    scope: scopeIn(conditions, { table, alias }, tables.length === 1),
  }));
}

function usesOfWrite(
  write: Tree,
  action: 'update' | 'delete',
  others: unknown,
  parts: Set<string>,
): TableUse[] {
  const { tables, conditions } = scopeOf([{ RangeVar: write.relation }, others], write.whereClause, parts);
  return tables.map((one, n) => ({
    table: one.table,
    action: n === 0 ? action : 'read',
    scope: scopeIn(conditions, one, tables.length === 1),
  }));
}

interface NamedTable {
  table: string;
  alias: string;
}

/**
 * Returns the tables that stand beside each other in a FROM, and the conditions that all must hold for them.
 */
function scopeOf(
  from: unknown,
  where: unknown,
  parts: Set<string>,
): { tables: NamedTable[]; conditions: Tree[] } {
  const tables = within(from, 'RangeVar')
    .map(({ node }) => ({ table: nameOf(node), alias: aliasOf(node) }))
    .filter(({ table }) => !parts.has(table));
  const joins = within(from, 'JoinExpr').map(({ node }) => node.quals);
  return { tables, conditions: [where, ...joins].flatMap((condition) => conjunctsOf(condition as Tree)) };
}

function conjunctsOf(condition: Tree | undefined): Tree[] {
  if (!condition) return [];
  const both = condition.BoolExpr as { boolop: string; args: Tree[] } | undefined;
  return both?.boolop === 'AND_EXPR' ? both.args.flatMap(conjunctsOf) : [condition];
}

function scopeIn(conditions: Tree[], table: NamedTable, isAlone: boolean): StatementScope {
  const scopes = conditions.flatMap(equalitiesOf).map(([left, right]) => {
    if (isTenantOf(left, table, isAlone)) return isParameter(right) ? 'parameter' : 'join';
    if (isTenantOf(right, table, isAlone)) return isParameter(left) ? 'parameter' : 'join';
    return 'none';
  });
  return SCOPES[Math.max(0, ...scopes.map((scope) => SCOPES.indexOf(scope)))]!;
}

/** Returns the pairs that a condition says are equal. */
function equalitiesOf(condition: Tree): [Tree, Tree][] {
  const link = condition.SubLink as Tree | undefined;
  if (link?.subLinkType === 'ANY_SUBLINK') return membersOf(link.testexpr as Tree).map((one) => [one, {}]);
  const expression = condition.A_Expr as Tree | undefined;
  const isEquality = JSON.stringify(expression?.name) === '[{"String":{"sval":"="}}]';
  if (!expression || !isEquality) return [];
  const [left, right] = [expression.lexpr as Tree, expression.rexpr as Tree];
  // The value is one of several.
  if (expression.kind !== 'AEXPR_OP') return membersOf(left).map((one) => [one, {}]);
  const others = membersOf(right);
  return membersOf(left).map((one, n) => [one, others[n] ?? {}]);
}

function membersOf(expression: Tree): Tree[] {
  const row = expression.RowExpr as { args: Tree[] } | undefined;
  return row ? row.args : [expression];
}

function isTenantOf(expression: Tree, { table, alias }: NamedTable, isAlone: boolean): boolean {
  const names = ((expression.ColumnRef as Tree | undefined)?.fields as Tree[] | undefined)?.map(
    (field) => (field.String as { sval: string } | undefined)?.sval,
  );
  if (!names || names.at(-1) !== (table === 'workspaces' ? 'id' : 'tenant_id')) return false;
  return names.length === 1 ? isAlone : names[0] === alias;
}

/** Returns whether an expression is a value from outside: `$1`, `$1::uuid`, `($1::uuid[])[1]`. */
function isParameter(expression: Tree): boolean {
  if (expression.ParamRef || expression.A_Const || JSON.stringify(expression).includes(`"${UNKNOWN}"`))
    return true;
  const inner = (expression.TypeCast ?? expression.A_Indirection) as { arg: Tree } | undefined;
  return !!inner && isParameter(inner.arg);
}

function nameOf(relation: Tree): string {
  return relation.relname as string;
}

function aliasOf(relation: Tree): string {
  return (relation.alias as { aliasname: string } | undefined)?.aliasname ?? nameOf(relation);
}

const STATEMENTS = ['SelectStmt', 'InsertStmt', 'UpdateStmt', 'DeleteStmt', 'MergeStmt'];

/** Returns the nodes of a kind in a clause, those of statements within it left out. */
function within(clause: unknown, wanted: string): { node: Tree }[] {
  const found: { node: Tree }[] = [];
  visit(clause, (kind, node) => {
    if (kind === wanted) found.push({ node });
    return !STATEMENTS.includes(kind);
  });
  return found;
}

/** Calls `see` for each node, with its kind; goes no deeper where that returns false. */
function visit(value: unknown, see: (kind: string, node: Tree) => boolean | void): void {
  if (Array.isArray(value)) return value.forEach((one) => visit(one, see));
  if (!value || typeof value !== 'object') return;
  for (const [key, inner] of Object.entries(value)) {
    // The halves of a UNION lack the name of their kind; those of a join have it.
    const kind =
      ['larg', 'rarg'].includes(key) && !isKind(Object.keys(inner as Tree)[0]) ? 'SelectStmt' : key;
    if (isKind(kind) && see(kind, inner as Tree) === false) continue;
    visit(inner, see);
  }
}

function isKind(name: string | undefined): boolean {
  return /^[A-Z]/.test(name ?? '');
}
