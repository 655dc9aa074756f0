/** Bytes that this process holds for clients, by holder, with a limit for all holders together. */
export class HeldBytes<Holder> {
  private readonly byHolder = new Map<Holder, number>();
  private total = 0;

  constructor(private readonly max: number) {}

  /** Sets the bytes that are held for a holder. A holder without bytes is forgotten. */
  set(holder: Holder, bytes: number): void {
    this.total += bytes - (this.byHolder.get(holder) ?? 0);
    if (bytes > 0) this.byHolder.set(holder, bytes);
    else this.byHolder.delete(holder);
  }

  /** Returns the holder of the most bytes while all together exceed the limit; null otherwise. */
  findExcessive(): Holder | null {
    if (this.total <= this.max) return null;
    let largest: [Holder | null, number] = [null, 0];
    for (const entry of this.byHolder) if (entry[1] > largest[1]) largest = entry;
    return largest[0];
  }
}
