/**
 * Remembers the values that were made for keys, up to a number of keys: then it forgets all, and begins anew.
 */
export class Memo<Value> {
  private readonly values = new Map<string, Value>();

  constructor(private readonly max: number) {}

  /** Returns the value that was made for a key, or makes it. An error is not remembered. */
  get(key: string, make: () => Value): Value {
    const known = this.find(key);
    if (known !== undefined) return known;
    const value = make();
    this.set(key, value);
    return value;
  }

  find(key: string): Value | undefined {
    return this.values.get(key);
  }

  set(key: string, value: Value): void {
    if (!this.values.has(key) && this.values.size >= this.max) this.values.clear();
    this.values.set(key, value);
  }
}
