/** Remembers what was made for keys, up to a number of them: then it forgets all, and begins anew. */
export class Memo<Value> {
  private readonly values = new Map<string, Value>();

  constructor(private readonly max: number) {}

  /** Returns what was made for a key, or makes it. An error is not remembered. */
  get(key: string, make: () => Value): Value {
    const known = this.values.get(key);
    if (known !== undefined) return known;
    const value = make();
    if (this.values.size >= this.max) this.values.clear();
    this.values.set(key, value);
    return value;
  }
}
