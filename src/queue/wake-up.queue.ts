import { Logger, OnModuleInit } from '@nestjs/common';
import type { Queue } from 'bull';

/** What a job carries: what to look after. Everything else is in the database. */
export interface WakeUp {
  id: string;
}

/** Delayed wake-ups of one target within this time are one. */
const DELAY_STEP_MS = 100;

/**
 * Wakes targets (endpoints, connections): a job says "look whether something is due", no more. A lost wake-up costs
 * time, until a sweeper comes; it never costs what is due, so nobody waits for Redis here.
 */
export class WakeUpQueue implements OnModuleInit {
  private readonly logger = new Logger(this.constructor.name);
  private readonly wanted = new Map<string, { id: string; delay: number }>();
  private adding = false;
  /** Gives targets a turn in this process, if it serves any. */
  private serve: ((ids: Iterable<string>) => void) | null = null;

  constructor(protected readonly bull: Queue<WakeUp>) {}

  /** Unheard, an error of the queue would end the process. */
  onModuleInit(): void {
    this.bull.on('error', (error: Error) => this.logger.warn({ err: error }, 'the queue has no Redis'));
  }

  /** From now on what is woken by this process is served by it: the way through Redis would only cost time. */
  serveHere(serve: (ids: Iterable<string>) => void): void {
    this.serve = serve;
  }

  serveElsewhere(): void {
    this.serve = null;
  }

  /** Wakes targets now. */
  wake(ids: Iterable<string>): void {
    if (this.serve) this.serve(ids);
    else this.share(ids);
  }

  /** Wakes targets now, in whichever process comes first. While a target's job waits, another one adds nothing. */
  share(ids: Iterable<string>): void {
    for (const id of ids) this.wanted.set(id, { id, delay: 0 });
    void this.addWanted();
  }

  /** Wakes a target after a while, by a job of its own: a waiting one must not swallow it. */
  wakeIn(id: string, delayMs: number): void {
    const step = Math.ceil((Date.now() + delayMs) / DELAY_STEP_MS);
    this.wanted.set(`${id}@${step}`, { id, delay: step * DELAY_STEP_MS - Date.now() });
    void this.addWanted();
  }

  /** One call to Redis at a time; what is wanted meanwhile goes into the next. */
  private async addWanted(): Promise<void> {
    if (this.adding) return;
    this.adding = true;
    try {
      while (this.wanted.size > 0) {
        const jobs = [...this.wanted].map(([jobId, { id, delay }]) => ({
          data: { id },
          opts: { jobId, delay, removeOnComplete: true, removeOnFail: true },
        }));
        this.wanted.clear();
        // Kept out of the client's own memory while Redis is away: the sweeper finds what is owed.
        if (this.bull.client.status === 'ready') await this.bull.addBulk(jobs);
      }
    } catch (error) {
      this.logger.warn({ err: error as Error }, 'nothing woken; the sweeper will');
    } finally {
      this.adding = false;
    }
  }
}
