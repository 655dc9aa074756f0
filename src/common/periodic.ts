/**
 * Runs its work until it is stopped, with a pause before each run: again and again, or once after
 * each call of `runLater`. Runs never overlap.
 */
export class Periodic {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;
  private isPlanned = false;

  /**
   * @param onError receives the error of a failed run; the work runs again after the usual pause
   */
  constructor(
    private readonly pauseMs: number,
    private readonly work: () => Promise<void>,
    private readonly onError: (error: Error) => void,
  ) {}

  /** Whether `stop` was called. Long work should then end early. */
  get isStopped(): boolean {
    return this.stopped;
  }

  start(firstPauseMs = this.pauseMs): void {
    this.timer = setTimeout(() => (this.running = this.repeat()), firstPauseMs);
  }

  /** Runs the work once, after the pause and the current run, unless such a run is planned already. */
  runLater(): void {
    if (this.isPlanned || this.stopped) return;
    this.isPlanned = true;
    this.timer = setTimeout(() => (this.running = this.running.then(() => this.runPlanned())), this.pauseMs);
  }

  /** Stops the repetition. Resolves when the current run has ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  private async repeat(): Promise<void> {
    await this.runOnce();
    if (!this.stopped) this.start();
  }

  private runPlanned(): Promise<void> {
    this.isPlanned = false;
    return this.runOnce();
  }

  private async runOnce(): Promise<void> {
    try {
      await this.work();
    } catch (error) {
      this.onError(error as Error);
    }
  }
}
