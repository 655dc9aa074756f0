import { BeforeApplicationShutdown, Logger, OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { Job, Queue } from 'bull';
import { closeQueue } from './close-queue';
import { LeaseWorker, TURNS_AT_ONCE } from './lease-worker';
import { WakeUp, WakeUpQueue } from './wake-up.queue';

/**
 * Serves the targets that are woken: by this process itself, and by jobs of any. The database says what is due and whose
 * it is, so that any number of jobs, workers and repetitions do no harm.
 */
export abstract class WakeUpProcessor
  implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown
{
  private readonly logger = new Logger(this.constructor.name);
  private stopping: Promise<void> | null = null;

  protected constructor(
    private readonly bull: Queue<WakeUp>,
    private readonly queue: WakeUpQueue,
    private readonly dispatcher: LeaseWorker<unknown>,
  ) {}

  /** Whether a target has anything that could be claimed now. */
  protected abstract hasDue(id: string): Promise<boolean>;

  onApplicationBootstrap(): void {
    this.queue.serveHere((ids) => this.dispatcher.call(ids));
    this.bull.on('error', (error: Error) => this.logger.warn({ err: error }, 'the queue has no Redis'));
    this.bull.on('failed', ({ data }: Job<WakeUp>, error: Error) =>
      this.logger.error({ err: error, ...data }, 'a turn failed; the sweeper will come back to it'),
    );
    // Only now is the job gone: a wake-up that came while it was active has added nothing.
    this.bull.on('completed', ({ data }: Job<WakeUp>) => void this.wakeIfDue(data.id));
    this.bull
      .process(TURNS_AT_ONCE, ({ data }) => this.dispatcher.serve(data.id))
      .catch((error: Error) => this.logger.error({ err: error }, 'the queue has stopped'));
  }

  /** Begins to stop, and is not waited for: all processors have the same time, at the same time. */
  onModuleDestroy(): void {
    this.queue.serveElsewhere();
    this.stopping ??= closeQueue(this.bull, [this.dispatcher.drain()]);
  }

  /** Lets what is under way come to its end, and takes nothing new. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.stopping;
  }

  /** Where there is no room there is nothing to wake for: whatever makes room will ask. */
  private async wakeIfDue(id: string): Promise<void> {
    if (this.stopping || !this.dispatcher.hasRoom(id)) return;
    try {
      if (await this.hasDue(id)) this.queue.wake([id]);
    } catch (error) {
      this.logger.warn({ err: error as Error, id }, 'not looked whether more is due; the sweeper will');
    }
  }
}
