declare module 'pg/lib/utils' {
  /**
   * Converts a value into the form in which pg sends it.
   * @throws Error when it can't be converted, such as an object that contains itself
   */
  export function prepareValue(value: unknown): string | Buffer | null;
}
