import { type Connection, DatabaseError } from 'pg';
import { prepareValue } from 'pg/lib/utils';
import { TRANSACTION_FAILED } from './database-errors';
import { type Callback, PgQuery, type PgConnection, type ResultTypes, Statement } from './statement';

/** Statement that is executed without a Sync message of its own. */
class GroupedStatement extends Statement {
  // oxlint-disable-next-line no-underscore-dangle -- pg calls it where it executes and syncs
  override _getRows(connection: PgConnection): void {
    connection.execute({ portal: this.portal }, true);
  }
}

/**
 * Sends several statements with one Sync message. The server answers them in one packet, and skips all
 * statements after a failed one, so that none runs outside a transaction whose BEGIN failed.
 */
export class StatementGroup extends PgQuery {
  private readonly statements: GroupedStatement[] = [];
  /** Index of the statement whose answer is being received. */
  private position = 0;
  /** Receives the end of the group: no error if all statements were answered, or that of the failed one. */
  onAnswered: (error?: Error) => void = () => undefined;

  constructor(private readonly types: ResultTypes) {
    super('');
  }

  /**
   * Adds a statement to a group that has not been sent.
   * @param name of the prepared statement; undefined for a statement that is parsed each time
   * @throws Error when a value can't be converted into a parameter
   */
  add(name: string | undefined, sql: string, values: unknown[], callback: Callback): void {
    // Values are converted now, because a failure while pg sends them would leave half of the group sent.
    const statement = new GroupedStatement(
      sql,
      values.map((value) => prepareValue(value)),
      callback,
    );
    statement.name = name;
    statement._result._types = this.types;
    this.statements.push(statement);
  }

  /**
   * Leaves out BEGIN if it is the first statement of this group, which has not been sent. Its callback is not
   * called.
   * @returns whether the group began with BEGIN
   */
  removeBegin(): boolean {
    if (this.statements[0]?.text !== 'BEGIN') return false;
    this.statements.shift();
    return true;
  }

  override submit = (connection: Connection): void => {
    this.expect(0);
    for (const statement of this.statements) statement.prepare(connection as PgConnection);
    connection.sync();
  };

  override handleRowDescription(message: object): void {
    this.current.handleRowDescription(message);
  }

  override handleDataRow(message: object): void {
    this.current.handleDataRow(message);
  }

  override handleCommandComplete(message: object, connection: PgConnection): void {
    this.current.handleCommandComplete(message, connection);
    this.expect(this.position + 1);
  }

  override handleReadyForQuery(connection: PgConnection): void {
    for (const statement of this.statements) statement.handleReadyForQuery(connection);
    this.onAnswered();
  }

  override handleError(error: Error, connection: PgConnection): void {
    this.onAnswered(error);
    const [failed, ...skipped] = this.statements.slice(this.position);
    for (const statement of this.statements.slice(0, this.position))
      statement.handleReadyForQuery(connection);
    failed?.handleError(error, connection);
    for (const statement of skipped) {
      // pg counts each sent statement as parsed. The name is removed, because the server skipped this one.
      if (statement.name) delete connection.submittedNamedStatements[statement.name];
      statement.handleError(error instanceof DatabaseError ? skippedAfter(error) : error, connection);
    }
  }

  private get current(): GroupedStatement {
    return this.statements[this.position]!;
  }

  /**
   * Assigns the following answers to the statement at `index`. pg's client reads `name` and `text` when it
   * records that a statement is parsed.
   */
  private expect(index: number): void {
    this.position = index;
    this.name = this.statements[index]?.name;
    this.text = this.statements[index]?.text ?? '';
  }
}

/** Makes the error with which PostgreSQL refuses a statement in a failed transaction. */
function skippedAfter({ message }: DatabaseError): DatabaseError {
  const error = new DatabaseError(`skipped after: ${message}`, 0, 'error');
  return Object.assign(error, { severity: 'ERROR', code: TRANSACTION_FAILED });
}
