import { type Connection, DatabaseError } from 'pg';
import { prepareValue } from 'pg/lib/utils';
import { TRANSACTION_FAILED } from './database-errors';
import { type Callback, PgQuery, type PgConnection, type ResultTypes, Statement } from './statement';

/** A statement of a group: one that is executed without a Sync of its own. */
class GroupedStatement extends Statement {
  // oxlint-disable-next-line no-underscore-dangle -- pg calls it where it executes and syncs
  override _getRows(connection: PgConnection): void {
    connection.execute({ portal: this.portal }, true);
  }
}

/**
 * Statements that are sent together behind one Sync. The server answers them in one packet, and skips all
 * that follow a failed one: so nothing runs outside a transaction whose BEGIN failed.
 */
export class StatementGroup extends PgQuery {
  private readonly statements: GroupedStatement[] = [];
  /** Index of the statement whose answer comes in. */
  private position = 0;
  /** Settles when all are answered; rejects with the error of the one that failed. */
  readonly answered: Promise<void>;
  private end!: (error?: Error) => void;

  /**
   * Makes an empty group.
   * @param types how the values of rows are read
   */
  constructor(private readonly types: ResultTypes) {
    super('');
    this.answered = new Promise((resolve, reject) => {
      this.end = (error) => (error ? reject(error) : resolve());
    });
  }

  /**
   * Adds a statement to a group that was not sent yet.
   * @param name of the prepared statement; none for one that is parsed each time
   * @throws Error when a value can't be written as a parameter
   */
  add(name: string | undefined, sql: string, values: unknown[], callback: Callback): void {
    // pg would find out while it sends, and end the group there.
    const statement = new GroupedStatement(
      sql,
      values.map((value) => prepareValue(value)),
      callback,
    );
    statement.name = name;
    statement._result._types = this.types;
    this.statements.push(statement);
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
    this.end();
  }

  override handleError(error: Error, connection: PgConnection): void {
    this.end(error);
    const [failed, ...skipped] = this.statements.slice(this.position);
    for (const statement of this.statements.slice(0, this.position))
      statement.handleReadyForQuery(connection);
    failed?.handleError(error, connection);
    for (const statement of skipped) {
      // pg takes a statement that it has sent for parsed.
      if (statement.name) delete connection.submittedNamedStatements[statement.name];
      statement.handleError(error instanceof DatabaseError ? skippedAfter(error) : error, connection);
    }
  }

  private get current(): GroupedStatement {
    return this.statements[this.position]!;
  }

  /**
   * Takes the answers that follow for the answers of a statement. pg's client notes its name once it is
   * parsed.
   */
  private expect(index: number): void {
    this.position = index;
    this.name = this.statements[index]?.name;
    this.text = this.statements[index]?.text ?? '';
  }
}

/** Returns the error that PostgreSQL gives for a statement of a failed transaction. */
function skippedAfter({ message }: DatabaseError): DatabaseError {
  const error = new DatabaseError(`skipped after: ${message}`, 0, 'error');
  return Object.assign(error, { severity: 'ERROR', code: TRANSACTION_FAILED });
}
