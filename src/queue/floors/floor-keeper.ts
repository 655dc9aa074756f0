import { BeforeApplicationShutdown, Injectable, Logger, OnModuleInit } from '@nestjs/common';
import { Periodic } from '../../common/periodic';
import { Database } from '../../database/database';
import { QueueFloors } from './queue-floors';
import { QueueFloorsRepository } from './queue-floors.repository';

const INTERVAL_MS = 10_000;
/** Milliseconds between two times at which this worker saves its floors and loads other workers' floors. */
const SAVED_EVERY_MS = 60_000;
/** Number of dead rows in a queue table above which floors are used. Vacuum rarely leaves so many. */
const MANY_DEAD_ROWS = 10_000;
const BATCH = 1_000;

/**
 * Switches floors on while a queue has many dead rows. A sub-queue is the rows of one workspace, endpoint or
 * connection. Its floor is the due time before which it has no row left, so a claim need not read earlier
 * rows. While floors are on, this class saves this worker's floors and loads other workers' floors, so that a
 * new worker knows them at its first claim.
 */
@Injectable()
export class FloorKeeper implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(FloorKeeper.name);
  private readonly timer = new Periodic(
    INTERVAL_MS,
    () => this.exchangeFloors(),
    (error) => this.logger.warn({ err: error }, 'the floors of the queues were not kept; it will be retried'),
  );
  /** Time at which this worker last saved and loaded floors, in milliseconds since 1970; 0 before that. */
  private exchangedAt = 0;

  constructor(
    private readonly database: Database,
    private readonly floors: QueueFloors,
    private readonly saved: QueueFloorsRepository,
  ) {}

  /** Loads the saved floors before the worker's first claim. If this fails, the claim reads all dead rows. */
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
