/**
 * Position in a list of rows that is ordered by due time: the due time of the last row that was read, and the
 * number of rows with this due time that were read.
 */
export type DuePosition = [dueAt: string, passed: number];

export const BEFORE_ALL_DUE: DuePosition = ['-infinity', 0];

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
