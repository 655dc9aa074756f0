import { MAX_LIMIT } from '../common/page';
import { Database } from './database';
import { Parameters } from './parameters';

/** Limit of the rows that are read: a page and one extra row, which shows that more follow. */
const MAX_ROWS = MAX_LIMIT + 1;

/**
 * Reads a page of a table, newest first, as plain rows: TypeORM's entities of a page cost more than the read.
 */
export class PageStatement {
  private readonly parameters = new Parameters();
  private readonly conditions: string[] = [];

  /**
   * Makes a statement over one table.
   * @param columns each with the property's name as its alias
   */
  constructor(
    private readonly columns: string,
    private readonly table: string,
  ) {}

  /** Adds a condition, with a `?` for each value. */
  where(condition: string, ...values: unknown[]): this {
    let at = 0;
    this.conditions.push(condition.replaceAll('?', () => this.parameters.bind(values[at++])));
    return this;
  }

  /**
   * Reads up to `count` rows below the cursor, by a plan that is made once for all values. PostgreSQL plans
   * an unknown limit as a tenth of the table, so the statement reads the largest possible page, and the
   * result is cut.
   */
  read<Row>(database: Database, cursor: string | undefined, count: number): Promise<Row[]> {
    const largest = `${this.from(cursor)} LIMIT ${MAX_ROWS}`;
    const page = `SELECT * FROM (${largest}) AS largest ORDER BY id DESC LIMIT ${this.parameters.bind(count)}`;
    return database.prepared(page, this.parameters.values);
  }

  private from(cursor: string | undefined): string {
    if (cursor) this.where('id < ?', cursor);
    return `SELECT ${this.columns} FROM ${this.table} WHERE ${this.conditions.join(' AND ')} ORDER BY id DESC`;
  }
}
