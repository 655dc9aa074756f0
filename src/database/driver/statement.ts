import { createHash } from 'node:crypto';
import { type Connection, type CustomTypesConfig, Query } from 'pg';
import { prepareValue } from 'pg/lib/utils';

export type Callback = (error: Error | undefined, result: { rows: unknown[] }) => void;
export type ResultTypes = CustomTypesConfig;

/** Connection of pg with private properties that pg's types leave out. */
export interface PgConnection extends Connection {
  parsedStatements: Record<string, string>;
  submittedNamedStatements: Record<string, string>;
}

interface Columns {
  fields: unknown[];
  _parsers: unknown[] | undefined;
  _prebuiltEmptyResultObject: object | null;
}

/** Query of pg with the private members that pg's client uses and that pg's types leave out. */
interface UntypedQuery extends Query {
  name: string | undefined;
  text: string;
  values: unknown[];
  portal: string;
  _result: Columns & { _types: ResultTypes };
  _accumulateRows: boolean;
  prepare(connection: PgConnection): void;
  handleRowDescription(message: object): void;
  handleDataRow(message: object): void;
  handleCommandComplete(message: object, connection: PgConnection): void;
  handleReadyForQuery(connection: PgConnection): void;
  handleError(error: Error, connection: PgConnection): void;
  _getRows(connection: PgConnection): void;
}

export const PgQuery = Query as unknown as new (
  text: string,
  values?: unknown[],
  callback?: Callback,
) => UntypedQuery;

/** Columns of the prepared statements that a connection has executed, by statement name. */
const columnsOf = new WeakMap<PgConnection, Map<string, Columns>>();

/**
 * Statement that requests the description of its columns only once per connection, if it has a name. pg
 * requests it each time, which costs the server a message and this process 10 µs.
 */
export class Statement extends PgQuery {
  override prepare(connection: PgConnection): void {
    const columns = this.name && columnsOf.get(connection)?.get(this.name);
    if (!columns) return super.prepare(connection);
    Object.assign(this._result, columns);
    this._accumulateRows = true;
    const { portal, name: statement } = this;
    const values = this.values.map((value) => prepareValue(value));
    connection.bind({ portal, statement, values }, true);
    this._getRows(connection);
  }

  override handleCommandComplete(message: object, connection: PgConnection): void {
    super.handleCommandComplete(message, connection);
    if (this.name) this.rememberColumns(connection, this.name);
  }

  private rememberColumns(connection: PgConnection, name: string): void {
    const known = columnsOf.get(connection) ?? new Map<string, Columns>();
    columnsOf.set(connection, known);
    if (known.has(name)) return;
    const { fields, _parsers, _prebuiltEmptyResultObject } = this._result;
    known.set(name, { fields, _parsers, _prebuiltEmptyResultObject });
  }
}

const names = new Map<string, string>();

/** Returns a prepared statement's name: a hash of its text, so that it is the same on every connection. */
export function nameOf(sql: string): string {
  let name = names.get(sql);
  if (!name) {
    name = createHash('sha256').update(sql).digest('base64url').slice(0, 22);
    names.set(sql, name);
  }
  return name;
}
