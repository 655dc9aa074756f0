import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from './random';

interface Pace {
  /** Number of callers side by side. */
  callers: number;
  /** Pause between two calls of one caller. */
  pauseMs: { least: number; most: number };
}

/** Repeats a request with several callers until it is stopped. */
export class Repeated {
  private loops: Promise<unknown> = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly act: (random: Random) => Promise<void>,
    private readonly random: Random,
    private readonly pace: Pace,
  ) {}

  start(): void {
    const loops = Array.from({ length: this.pace.callers }, (_, index) =>
      this.loop(this.random.stream(`caller ${index}`)),
    );
    this.loops = Promise.all(loops);
    this.loops.catch(() => undefined); // stop() reports it
  }

  /** Ends the repetition. Settles when the calls in flight have ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    await this.loops;
  }

  private async loop(random: Random): Promise<void> {
    const { least, most } = this.pace.pauseMs;
    while (!this.stopped) {
      await this.act(random);
      await sleep(random.between(least, most));
    }
  }
}
