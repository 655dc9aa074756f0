/** A pause that something better can end early: the browser is online again, the page is visible again. */
export class Pause {
  private end: (() => void) | null = null;

  wait(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.end = null;
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done);
      this.end = done;
    });
  }

  /** Nothing happens if nobody waits. */
  cut(): void {
    this.end?.();
  }
}
