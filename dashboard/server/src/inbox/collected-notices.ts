/** Milliseconds after a notice (a batch of changes) in which the changes for the next one are collected. */
const COLLECT_MS = 200;
/** Maximum changes in one notice. If there are more, null is sent, because anything may have changed. */
const MAX_NAMED = 100;

/** Sends changes in batches: the first change at once, and the changes of the following 200 ms together. */
export class CollectedNotices<Change> {
  /** Collected changes, each under its JSON as the key, so that equal changes are sent once. */
  private readonly changes = new Map<string, Change>();
  private hasMore = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly send: (changes: Change[] | null) => void) {}

  /** Adds a change to the next notice; null means that anything may have changed. */
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
