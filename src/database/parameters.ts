/** Collects the values of a statement that is put together from parts, and numbers their placeholders. */
export class Parameters {
  readonly values: unknown[] = [];

  /** Adds a value, and returns its placeholder, such as `$3`. */
  bind(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}
