/** Waits for a time that `cut` can end early, for example because the browser is online again. */
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

  /** Ends the present pause at once; does nothing if there is none. */
  cut(): void {
    this.end?.();
  }
}
