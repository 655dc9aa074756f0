/** Repeats its work until it is stopped, with a pause before each run. Runs never overlap. */
export class Periodic {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;

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
    this.timer = setTimeout(() => (this.running = this.runOnce()), firstPauseMs);
  }

  /** Stops the repetition. Resolves when the current run has ended. */
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
