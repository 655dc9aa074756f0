/** Number up to which a page's figures are counted. One more stands for any greater number. */
export const MAX_COUNTED = 1_000;

/**
 * Makes the statement that counts rows, and stops at one more than 1,000.
 * @param rows statement that selects the rows, without a limit
 */
export const boundedCount = (rows: string) =>
  `SELECT count(*)::integer AS count FROM (${rows} LIMIT ${MAX_COUNTED + 1}) AS counted`;
