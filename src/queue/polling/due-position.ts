/** Position in rows by the time at which they are due: a time, and the number of its rows to pass over. */
export type DuePosition = [dueAt: string, passed: number];

export const BEFORE_ALL_DUE: DuePosition = ['-infinity', 0];

/**
 * Returns the position behind rows that were read in the order of their times, from a position on.
 * @param limit number of rows that were asked for
 * @returns null when no more are due
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
