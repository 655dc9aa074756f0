import { Memo } from '../../common/memo';

/**
 * Value of a parameter of type `timestamptz`: the time at which the transaction began, to the microsecond.
 * The coordinator reads it when it takes the parameter, at no round trip.
 */
const TRANSACTION_START = 'now';

/** Limit of the statements whose texts a process keeps. A process has a few hundred. */
const MAX_TEXTS = 10_000;

/** Texts of statements with a parameter in place of `now()`, by the texts that the service has written. */
const texts = new Memo<string>(MAX_TEXTS);

/** Parts of a statement that hold no value, its parameters, and its calls of `now()`. */
const TOKENS = /'[^']*'|"[^"]*"|--.*|\/\*[^]*?\*\/|\$(\d+)|\bnow\(\)/g;

/**
 * Returns a statement with other SQL for its values.
 * @param parameter returns the SQL in place of a parameter, by its number
 * @param present SQL in place of each `now()`
 */
export function replaceValues(sql: string, parameter: (number: number) => string, present: string): string {
  return sql.replace(TOKENS, (token, number?: string) => {
    if (number !== undefined) return parameter(Number(number));
    return token === 'now()' ? present : token;
  });
}

/**
 * Returns a statement and its parameters with the time at which the transaction began as one more parameter,
 * if the statement has a `now()`. That function is another time on each node that reads rows, later than the
 * coordinator's, which the same statement writes.
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
