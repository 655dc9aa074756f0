/** Cache of values by key. A new key beyond the largest number of keys, `max`, deletes the oldest key. */
export class Memo<Value> {
  private readonly values = new Map<string, Value>();

  constructor(private readonly max: number) {}

  /** Returns the stored value of a key, or makes and stores it. An error of `make` is thrown, not stored. */
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
    if (!this.values.has(key) && this.values.size >= this.max)
      this.values.delete(this.values.keys().next().value!);
    this.values.set(key, value);
  }
}
