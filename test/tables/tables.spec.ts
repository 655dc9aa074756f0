import {
  BATCHES,
  CLIMBING_READS,
  JOINS,
  JOINT_WRITES,
  LOCKS,
  NAMED_WORKSPACES,
  RUNNERS,
  SEARCHES,
} from './across-workspaces';
import { mayImport } from './import-rules';
import { readSources } from './source-files';
import { SqlTexts } from './sql-texts';
import { parseStatements, Statement, TableUse, UNKNOWN } from './statements';
import { ownersOf } from './table-owners';
import { findEntityWrites, findUnscopedEntityUses } from './table-writes';

const WRITES = ['insert', 'update', 'delete', 'truncate'];
const LOCKING = ['lock', 'update', 'delete', 'truncate'];
/**
 * Names that are no tables of the service: a partition's own name, names of PostgreSQL or TypeORM, and the
 * part of a claim that `handleSql` reads.
 */
const NO_TABLE = /^pg_|^migrations$|_default$|^claimed$/;

describe('the SQL of the service', () => {
  const sources = readSources('src', 'dashboard/server/src');
  const owners = ownersOf(sources);
  let statements: Statement[];
  let tables: Set<string>;
  let tenantTables: Set<string>;

  beforeAll(async () => {
    statements = await parseStatements(new SqlTexts(sources).find());
    const schema = await parseStatements(new SqlTexts(readSources('migrations')).find());
    const created = schema.flatMap(({ creates }) => creates);
    tables = new Set(created.map(({ table }) => table));
    tenantTables = new Set(
      created.filter(({ columns }) => columns[0] === 'tenant_id').map(({ table }) => table),
    );
    tenantTables.add('workspaces');
  });

  it('is found, and names no table that is not there', () => {
    expect(statements.length).toBeGreaterThan(250);
    expect(tenantTables.size).toBeGreaterThan(25);
    const named = new Set(statements.flatMap(({ uses }) => uses.map(({ table }) => table)));
    const unknown = [...named].filter(
      (table) => !tables.has(table) && !isUnknown(table) && !NO_TABLE.test(table),
    );
    expect(unknown).toEqual([]);
  });

  it('has a folder for each table', () => {
    expect([...owners.keys()].sort()).toEqual([...tables].sort());
  });

  it('writes a table in the folder that declares it alone, and where it is listed', () => {
    const bySql = statements.flatMap(({ uses, ...at }) =>
      uses.filter(({ action }) => WRITES.includes(action)).map(({ table }) => ({ ...at, table })),
    );
    const strangers = [...bySql, ...findEntityWrites(sources)]
      .filter(({ table }) => !isUnknown(table))
      .filter(({ file, table }) => !file.startsWith(`${owners.get(table)}/`))
      .map(({ place, table }) => `${place} writes ${table}`);
    expect([...new Set(strangers)].sort()).toEqual(Object.keys(JOINT_WRITES));
  });

  it('reads a table in the folders that may import its own, and in those that are listed', () => {
    const reads = statements.flatMap(({ file, place, uses }) =>
      uses
        .map(({ table }) => ({ file, place, table, owner: owners.get(table) }))
        .filter(({ owner }) => owner && !mayImport(file, `${owner}/any.ts`)),
    );
    const climbing = reads.map(({ place, table }) => `${place} reads ${table}`);
    expect([...new Set(climbing)].sort()).toEqual(Object.keys(CLIMBING_READS).sort());
  });

  it('puts the name of a table together in the runners alone', () => {
    expect(classesOf(placesWhere(({ table }) => isUnknown(table)))).toEqual(Object.keys(RUNNERS));
  });

  it('names the workspace of each table of a statement by a parameter', () => {
    const unscoped = [
      ...placesWhere(({ table, scope }) => isOfTenants(table) && scope !== 'parameter'),
      ...findUnscopedEntityUses(sources)
        .filter(({ table }) => tenantTables.has(table))
        .map(({ place }) => place),
    ];
    const listed = { ...NAMED_WORKSPACES, ...SEARCHES, ...BATCHES, ...LOCKS, ...JOINS };
    expect(withoutReaders(unscoped)).toEqual(Object.keys(listed).sort());
  });

  it('locks rows of one workspace, or of several where a statement may serve them', () => {
    const locking = placesWhere(
      ({ table, action, scope }) => isOfTenants(table) && LOCKING.includes(action) && scope !== 'parameter',
    );
    expect(locking.filter((place) => !(place in JOINS))).toEqual(
      Object.keys({ ...BATCHES, ...LOCKS }).sort(),
    );
  });

  function isUnknown(table: string): boolean {
    return table.includes(UNKNOWN);
  }

  function isOfTenants(table: string): boolean {
    return tenantTables.has(table) || isUnknown(table);
  }

  /** Returns the methods with a statement that uses a table in this way, in order. */
  function placesWhere(matches: (use: TableUse) => boolean): string[] {
    const places = statements.filter(({ uses }) => uses.some(matches)).map(({ place }) => place);
    return [...new Set(places)].sort();
  }
});

function classesOf(places: string[]): string[] {
  return [...new Set(places.map((place) => place.split('.')[0]!))];
}

/** Leaves out methods that only read, among those that run any table's statements. */
function withoutReaders(places: string[]): string[] {
  return [...new Set(places)].filter((place) => !/^(PageStatement|Partitions)\./.test(place)).sort();
}
