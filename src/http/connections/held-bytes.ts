/** Bytes that this process holds for clients, by who holds them, with a limit for all together. */
export class HeldBytes<Holder> {
  private readonly byHolder = new Map<Holder, number>();
  private total = 0;

  constructor(private readonly max: number) {}

  /** Sets how many bytes are held for a holder. One for whom none are held is forgotten. */
  set(holder: Holder, bytes: number): void {
    this.total += bytes - (this.byHolder.get(holder) ?? 0);
    if (bytes > 0) this.byHolder.set(holder, bytes);
    else this.byHolder.delete(holder);
  }

  /** Returns who holds the most while all together hold more than the limit; null below it. */
  findExcessive(): Holder | null {
    if (this.total <= this.max) return null;
    let largest: [Holder | null, number] = [null, 0];
    for (const entry of this.byHolder) if (entry[1] > largest[1]) largest = entry;
    return largest[0];
  }
}
