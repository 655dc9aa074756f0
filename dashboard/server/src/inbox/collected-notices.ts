/** Time in which notices are collected after one was sent, so that a storm costs few of them. */
const COLLECT_MS = 200;
/** Limit of the ids that one notice names. A notice of more is null: any may have changed. */
const MAX_NAMED = 100;

/** Collects changes: the first one goes at once, and all that follow within 200 ms go together. */
export class CollectedNotices<Change> {
  /** Each change once, by its JSON. */
  private readonly changes = new Map<string, Change>();
  private hasMore = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly send: (changes: Change[] | null) => void) {}

  /** Takes a change; null if anything may have changed. */
  note(change: Change | null): void {
    if (change === null || this.changes.size >= MAX_NAMED) this.hasMore = true;
    else this.changes.set(JSON.stringify(change), change);
    if (!this.timer) this.sendAll();
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private sendAll(): void {
    this.timer = undefined;
    if (this.changes.size === 0 && !this.hasMore) return;
    this.send(this.hasMore ? null : [...this.changes.values()]);
    this.changes.clear();
    this.hasMore = false;
    this.timer = setTimeout(() => this.sendAll(), COLLECT_MS);
  }
}
