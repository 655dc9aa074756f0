import { Memo } from '../../common/memo';

/**
 * Value of a `timestamptz` parameter that the coordinator reads as the time at which the transaction began.
 */
const TRANSACTION_START = 'now';

/** Largest number of statements whose texts are cached. A process has a few hundred. */
const MAX_TEXTS = 10_000;

/** Texts of statements with a parameter in place of `now()`, by the original text. */
const texts = new Memo<string>(MAX_TEXTS);

/** Parts of a statement: literals, names and comments (left unchanged), parameters, and calls of `now()`. */
const TOKENS = /'[^']*'|"[^"]*"|--.*|\/\*[^]*?\*\/|\$(\d+)|\bnow\(\)/g;

/**
 * Returns a statement with other SQL in place of its parameters and of `now()`.
 * @param parameter returns the SQL for a parameter, given its number
 * @param present SQL for each `now()`
 */
export function replaceValues(sql: string, parameter: (number: number) => string, present: string): string {
  return sql.replace(TOKENS, (token, number?: string) => {
    if (number !== undefined) return parameter(Number(number));
    return token === 'now()' ? present : token;
  });
}

/**
 * Replaces each `now()` of a statement by a parameter with the time at which the transaction began on the
 * coordinator. On a node, `now()` would be later than the time that the same statement writes on the
 * coordinator.
 */
export function withPresentTime(sql: string, parameters: unknown[]): [sql: string, parameters: unknown[]] {
  const text = texts.get(sql, () => replacePresent(sql));
  return text === sql ? [sql, parameters] : [text, [...parameters, TRANSACTION_START]];
}

function replacePresent(sql: string): string {
  let count = 0;
  const keep = (number: number) => {
    count = Math.max(count, number);
    return `$${number}`;
  };
  replaceValues(sql, keep, '');
  return replaceValues(sql, keep, `$${count + 1}::timestamptz`);
}
