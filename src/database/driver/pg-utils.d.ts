declare module 'pg/lib/utils' {
  /**
   * Returns a value as pg sends it.
   * @throws Error when it has no text, such as an object that contains itself
   */
  export function prepareValue(value: unknown): string | Buffer | null;
}
