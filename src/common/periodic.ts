/** Does its work again and again, with a pause before each time, until it is stopped. Never twice at once. */
export class Periodic {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;

  /** Work that fails is handed to `onError`, and done again after the pause. */
  constructor(
    private readonly pauseMs: number,
    private readonly work: () => Promise<void>,
    private readonly onError: (error: Error) => void,
  ) {}

  /** For work that could end early. */
  get isStopped(): boolean {
    return this.stopped;
  }

  start(): void {
    this.timer = setTimeout(() => (this.running = this.run()), this.pauseMs);
  }

  /** Settles once what is under way has ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  private async run(): Promise<void> {
    try {
      await this.work();
    } catch (error) {
      this.onError(error as Error);
    }
    if (!this.stopped) this.start();
  }
}
