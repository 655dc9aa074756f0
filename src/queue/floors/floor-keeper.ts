import { BeforeApplicationShutdown, Injectable, Logger, OnModuleInit } from '@nestjs/common';
import { Periodic } from '../../common/periodic';
import { Database } from '../../database/database';
import { QueueFloors } from './queue-floors';
import { QueueFloorsRepository } from './queue-floors.repository';

const INTERVAL_MS = 10_000;
/** Milliseconds between two exchanges with other workers, through the table `queue_floors`. */
const SAVED_EVERY_MS = 60_000;
/**
 * Number of dead rows in a queue table above which reads skip them. Vacuum leaves so many only while an old
 * snapshot prevents their removal.
 */
const MANY_DEAD_ROWS = 10_000;
const BATCH = 1_000;

/**
 * Switches floors on while a queue has many dead rows. A floor is the due time before which a sub-queue has
 * no row left. While they are on, this class saves the floors of the sub-queues that this worker claims from,
 * and loads the floors that other workers saved: at the start and once a minute. So the first claim of a new
 * worker reads the dead rows of two minutes at most.
 */
@Injectable()
export class FloorKeeper implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(FloorKeeper.name);
  private readonly timer = new Periodic(
    INTERVAL_MS,
    () => this.exchangeFloors(),
    (error) => this.logger.warn({ err: error }, 'the floors of the queues were not kept; it will be retried'),
  );
  /** Milliseconds since 1970. */
  private exchangedAt = 0;

  constructor(
    private readonly database: Database,
    private readonly floors: QueueFloors,
    private readonly saved: QueueFloorsRepository,
  ) {}

  /** Loads floors before the worker claims. After a failure, claims read sub-queues from the beginning. */
  async onModuleInit(): Promise<void> {
    await this.exchangeFloors().catch((error: Error) =>
      this.logger.warn({ err: error }, 'the floors of the queues were not loaded; it will be retried'),
    );
    this.timer.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.timer.stop();
  }

  private async exchangeFloors(): Promise<void> {
    this.floors.use((await this.saved.countDead()) > MANY_DEAD_ROWS);
    const now = Date.now();
    if (!this.floors.areUsed || now - this.exchangedAt < SAVED_EVERY_MS) return;
    for (const batch of this.database.batchesOf(this.floors.takeUnsaved(), BATCH))
      await this.saved.save(batch);
    this.floors.addSaved(await this.saved.list(new Date(this.exchangedAt - SAVED_EVERY_MS)));
    this.exchangedAt = now;
  }
}
