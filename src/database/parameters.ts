/** Values of a statement that is put together from parts, numbered as they are bound. */
export class Parameters {
  readonly values: unknown[] = [];

  /** @returns the value's placeholder, such as `$3` */
  bind(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}
