import { backoffMs } from '../protocol/backoff';
import { Pause } from '../protocol/pause';
import { isRefusal, retryAfterMsOf } from '../protocol/service-client';

/** Runs steps one after another, until there is nothing to do. Repeats a failed step after a pause. */
export class RetriedWork {
  private readonly pause = new Pause();
  private readonly aborter = new AbortController();
  private running: Promise<void> | null = null;

  /**
   * @param step does a part of the work; returns false if there is nothing to do
   * @param onRefused receives the error of a step that must not be repeated
   */
  constructor(
    private readonly step: (signal: AbortSignal) => Promise<boolean>,
    private readonly onRefused: (error: unknown) => void,
  ) {}

  /** Begins the work. Ends a wait after a failure, except a wait that `Retry-After` demands. */
  wake(): void {
    this.pause.cut();
    if (!this.aborter.signal.aborted) this.running ??= this.run().finally(() => (this.running = null));
  }

  /** Stops the work. Resolves once no step is running. */
  async stop(): Promise<void> {
    this.aborter.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.aborter;
    for (let failures = 0; !signal.aborted;) {
      try {
        if (!(await this.step(signal))) return;
        failures = 0;
      } catch (error) {
        if (isRefusal(error)) return this.onRefused(error);
        await new Pause().wait(retryAfterMsOf(error), signal);
        await this.pause.wait(backoffMs(++failures), signal);
      }
    }
  }
}
