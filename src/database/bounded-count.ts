/** Largest number of rows that a count shows exactly. A count of 1,001 means more than 1,000 rows. */
export const MAX_COUNTED = 1_000;

/** Returns SQL that counts the rows of a SELECT, at most 1,001. The SELECT must have no LIMIT of its own. */
export const boundedCount = (rows: string) =>
  `SELECT count(*)::integer AS count FROM (${rows} LIMIT ${MAX_COUNTED + 1}) AS counted`;
