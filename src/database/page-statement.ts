import { MAX_LIMIT } from '../common/page';
import { Database } from './database';
import { Parameters } from './parameters';

/** Limit of the rows that are read: a page and one extra row, which shows that more follow. */
const MAX_ROWS = MAX_LIMIT + 1;

/** Reads a page of a table, newest rows first, without entities, because they cost more than the read. */
export class PageStatement {
  private readonly parameters = new Parameters();
  private readonly conditions: string[] = [];

  /**
   * @param columns SQL list of the columns, each with the property's name as its alias
   */
  constructor(
    private readonly columns: string,
    private readonly table: string,
  ) {}

  /** Adds an SQL condition. Each `?` in it stands for one of the values, in their order. */
  where(condition: string, ...values: unknown[]): this {
    let at = 0;
    this.conditions.push(condition.replaceAll('?', () => this.parameters.bind(values[at++])));
    return this;
  }

  /**
   * Reads up to `count` rows whose ids are below the cursor. PostgreSQL plans the statement once for all
   * values, and would expect an unknown LIMIT to return a tenth of the table. So an inner SELECT has the
   * largest possible page as its LIMIT, and an outer one cuts the result.
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
