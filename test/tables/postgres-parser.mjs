import { loadModule, parseSync } from 'libpg-query';

/** @typedef {(sql: string) => { [key: string]: unknown }} Parser */

/**
 * Loads PostgreSQL's own parser.
 *
 * @returns {Promise<Parser>} a function that returns the tree of a
 *   statement, or throws
 */
export async function loadParser() {
  await loadModule();
  return /** @type {Parser} */ (parseSync);
}
