const CHECK_MS = 5000;
const ANSWER_MS = 2000;

interface OwnershipEvents {
  onGain(): void;
  onLose(): void;
  /** Asks the tab that owns the stream to answer, which shows that it is not frozen. */
  ping(): void;
}

/**
 * Elects the tab that reads the visitor's event stream and sends the outbox: the one that has a Web Lock. A
 * closed tab loses the lock, but a frozen one does not. So a visible tab steals it from an owner that does
 * not answer.
 */
export class TabOwnership {
  isOwner = false;
  private heardAt = 0;
  private release: (() => void) | null = null;
  private queued: AbortController | null = null;
  private started = false;
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(
    private readonly name: string,
    private readonly isShared: boolean,
    private readonly events: OwnershipEvents,
  ) {}

  start(): void {
    if (this.started) return;
    this.started = true;
    if (!this.isShared || !navigator.locks) return this.gain();
    this.request(false);
    this.timer = setInterval(() => this.check(), CHECK_MS);
  }

  stop(): void {
    clearInterval(this.timer);
    this.started = false;
    this.queued?.abort();
    this.release?.();
    this.lose();
  }

  /** Records that the owning tab has sent a message, and so is not frozen. */
  hear(): void {
    this.heardAt = performance.now();
  }

  /** Steals the lock if its owner does not answer within 2 s. Runs every 5 s, and when the page is shown. */
  check(): void {
    if (this.isOwner || !this.started || document.visibilityState !== 'visible') return;
    const askedAt = performance.now();
    this.events.ping();
    setTimeout(() => {
      if (this.started && !this.isOwner && this.heardAt < askedAt) this.request(true);
    }, ANSWER_MS);
  }

  private request(steal: boolean): void {
    this.queued?.abort();
    const { signal } = (this.queued = new AbortController());
    const hold = () => {
      if (signal.aborted) return;
      return new Promise<void>((resolve) => {
        this.release = resolve;
        this.gain();
      });
    };
    navigator.locks.request(this.name, steal ? { steal } : { signal }, hold).catch((error: unknown) => {
      if (signal.aborted) return;
      if ((error as Error).name === 'SecurityError') return this.gain();
      // Another tab that got no answer from this one has stolen the lock.
      this.lose();
      this.request(false);
    });
  }

  private gain(): void {
    if (this.isOwner) return;
    this.isOwner = true;
    this.events.onGain();
  }

  private lose(): void {
    this.release = null;
    if (!this.isOwner) return;
    this.isOwner = false;
    this.events.onLose();
  }
}
