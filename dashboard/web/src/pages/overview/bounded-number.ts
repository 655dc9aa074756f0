/** Number up to which the server counts. The server returns 1,001 for any greater number. */
const MAX_COUNTED = 1_000;

/** Writes a count from the server, such as `12`, or `1,000+` if the server stopped counting. */
export function boundedNumber(count: number, format: (value: number) => string): string {
  return count > MAX_COUNTED ? `${format(MAX_COUNTED)}+` : format(count);
}
