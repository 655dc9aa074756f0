import { WorkspaceServer } from '../../database/placement/placement';

/** Largest number of rows of one step of a search. */
export const DUE_ROWS = 1_000;

/**
 * Position in a list of rows that is ordered by due time: the due time of the last row that was read, and the
 * number of rows with this due time that were read.
 */
export type DuePosition = [dueAt: string, passed: number];

export const BEFORE_ALL_DUE: DuePosition = ['-infinity', 0];

/** Rows that one step of a search has found, and the position of the next step; null if no more are due. */
export interface DueStep<Row> {
  items: Row[];
  next: DuePosition | null;
}

/**
 * Finds up to 1,000 due rows of a database server after a position.
 * @param sql statement that takes the due time and the offset of the position, selects `dueAt` as text beside
 *   the columns of a row, and returns the first `DUE_ROWS` rows in the order of their due times
 */
export async function searchDue<Row extends object>(
  server: WorkspaceServer,
  after: DuePosition,
  sql: string,
): Promise<DueStep<Row>> {
  const rows = await server.search<Row & { dueAt: string }>(sql, after, {
    order: ({ dueAt }) => [dueAt],
    limit: DUE_ROWS,
  });
  const items = rows.map(({ dueAt: _, ...row }) => row as unknown as Row);
  return { items, next: positionAfter(rows, after, DUE_ROWS) };
}

/**
 * Returns the position after the last of these rows, which a query read from the given position on.
 * @param limit number of rows that the query asked for
 * @returns null if the query returned fewer rows, so that no more rows are due
 */
export function positionAfter(
  rows: { dueAt: string }[],
  [dueAt, passed]: DuePosition,
  limit: number,
): DuePosition | null {
  if (rows.length < limit) return null;
  const last = rows.at(-1)!.dueAt;
  const ofLast = rows.filter((row) => row.dueAt === last).length;
  return [last, last === dueAt ? passed + ofLast : ofLast];
}
