/**
 * Repeats an SQL condition that one index serves. PostgreSQL then expects hardly any rows of that index, and
 * reads no other index beside it. Without it, PostgreSQL would read the primary key of a whole workspace as
 * soon as the condition names the workspace too.
 */
export function expectFewRows(condition: string): string {
  return `${condition} AND ${condition} AND ${condition}`;
}
