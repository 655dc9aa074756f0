/** Counts bytes in memory by holder, such as a connection, with a limit for all holders together. */
export class HeldBytes<Holder> {
  private readonly byHolder = new Map<Holder, number>();
  private total = 0;

  constructor(private readonly max: number) {}

  set(holder: Holder, bytes: number): void {
    this.total += bytes - (this.byHolder.get(holder) ?? 0);
    if (bytes > 0) this.byHolder.set(holder, bytes);
    else this.byHolder.delete(holder);
  }

  /** Returns the holder with the most bytes if all holders together exceed the limit; null otherwise. */
  findExcessive(): Holder | null {
    if (this.total <= this.max) return null;
    let largest: [Holder | null, number] = [null, 0];
    for (const entry of this.byHolder) if (entry[1] > largest[1]) largest = entry;
    return largest[0];
  }
}
