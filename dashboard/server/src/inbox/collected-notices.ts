/** Time in which notices are collected after one was sent, so that a storm costs few of them. */
const COLLECT_MS = 200;
/** Limit of the ids that one notice names. More are told as null: any may have changed. */
const MAX_NAMED = 100;

/** Collects ids of what has changed: the first goes at once, what follows within 200 ms together. */
export class CollectedNotices {
  private readonly ids = new Set<string>();
  private hasMore = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly send: (ids: string[] | null) => void) {}

  /** Takes the id of what has changed; null if any may have. */
  note(id: string | null): void {
    if (id === null || this.ids.size >= MAX_NAMED) this.hasMore = true;
    else this.ids.add(id);
    if (!this.timer) this.sendAll();
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private sendAll(): void {
    this.timer = undefined;
    if (this.ids.size === 0 && !this.hasMore) return;
    this.send(this.hasMore ? null : [...this.ids]);
    this.ids.clear();
    this.hasMore = false;
    this.timer = setTimeout(() => this.sendAll(), COLLECT_MS);
  }
}
