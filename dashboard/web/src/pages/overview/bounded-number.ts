/** Number up to which the server counts. One more stands for any greater number. */
const MAX_COUNTED = 1_000;

/** Writes a number that the server counted up to a limit, such as `12` or `1,000+`. */
export function boundedNumber(count: number, format: (value: number) => string): string {
  return count > MAX_COUNTED ? `${format(MAX_COUNTED)}+` : format(count);
}
