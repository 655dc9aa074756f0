/**
 * Returns an SQL condition three times, joined by AND. PostgreSQL then expects very few rows, and reads only
 * the index that serves the condition. Otherwise, if the statement also names a workspace, PostgreSQL would
 * read the primary key of that whole workspace.
 */
export function expectFewRows(condition: string): string {
  return `${condition} AND ${condition} AND ${condition}`;
}
