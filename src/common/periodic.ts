/** Repeats its work, with a pause before each run, until it is stopped. Runs never overlap. */
export class Periodic {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;

  /**
   * Makes a periodic that is not started yet.
   * @param onError gets each failure; the work runs again after the pause
   */
  constructor(
    private readonly pauseMs: number,
    private readonly work: () => Promise<void>,
    private readonly onError: (error: Error) => void,
  ) {}

  /** True once `stop` was called, so that long work can end early. */
  get isStopped(): boolean {
    return this.stopped;
  }

  start(firstPauseMs = this.pauseMs): void {
    this.timer = setTimeout(() => (this.running = this.runOnce()), firstPauseMs);
  }

  /** Stops the repetition. Resolves after the current run. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  private async runOnce(): Promise<void> {
    try {
      await this.work();
    } catch (error) {
      this.onError(error as Error);
    }
    if (!this.stopped) this.start();
  }
}
