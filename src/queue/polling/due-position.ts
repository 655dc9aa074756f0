/** Position in rows in order of their due time: a due time, and the number of rows read with that time. */
export type DuePosition = [dueAt: string, passed: number];

export const BEFORE_ALL_DUE: DuePosition = ['-infinity', 0];

/**
 * Returns the position after rows that were read in order of their due time, from the given position on.
 * @param limit number of rows that the query asked for
 * @returns null if fewer rows were read, so that no more are due
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
