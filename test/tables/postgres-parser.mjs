import { loadModule, parseSync } from 'libpg-query';

/**
 * Loads PostgreSQL's own parser.
 *
 * @returns {Promise<(sql: string) => { [key: string]: unknown }>} a function that returns the tree of a
 *   statement, or throws
 */
export async function loadParser() {
  await loadModule();
  return parseSync;
}
