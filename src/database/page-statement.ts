import { MAX_LIMIT } from '../common/page';
import { Database } from './database';

/** A page, and the row that tells whether more follow. */
const MOST_ROWS = MAX_LIMIT + 1;

/** Reads a page of a table, newest first, past TypeORM: it would make an entity of each row, to be thrown away. */
export class PageStatement {
  private readonly parameters: unknown[] = [];
  private readonly conditions: string[] = [];

  /** @param columns what to read, each under the name that its row has it by */
  constructor(
    private readonly columns: string,
    private readonly table: string,
  ) {}

  /** Only rows of which this is true. A `?` stands for each of the values. */
  where(condition: string, ...values: unknown[]): this {
    let at = 0;
    this.conditions.push(condition.replaceAll('?', () => this.parameter(values[at++])));
    return this;
  }

  /**
   * Reads as many rows as are asked for, from below the cursor, by a plan that is made once, for all values. Of a limit
   * that it does not know, PostgreSQL would think that a tenth of the table is wanted: so the page is cut from the
   * largest there can be.
   */
  read<Row>(database: Database, cursor: string | undefined, count: number): Promise<Row[]> {
    const most = `${this.from(cursor)} LIMIT ${MOST_ROWS}`;
    const page = `SELECT * FROM (${most}) AS most ORDER BY id DESC LIMIT ${this.parameter(count)}`;
    return database.prepared(page, this.parameters);
  }

  /** The same by a plan for these very values, where the best one depends on them. */
  readPlanned<Row>(database: Database, cursor: string | undefined, count: number): Promise<Row[]> {
    return database.query(`${this.from(cursor)} LIMIT ${this.parameter(count)}`, this.parameters);
  }

  private from(cursor: string | undefined): string {
    if (cursor) this.where('id < ?', cursor);
    return `SELECT ${this.columns} FROM ${this.table} WHERE ${this.conditions.join(' AND ')} ORDER BY id DESC`;
  }

  private parameter(value: unknown): string {
    return `$${this.parameters.push(value)}`;
  }
}
