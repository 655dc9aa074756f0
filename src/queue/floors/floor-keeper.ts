import { BeforeApplicationShutdown, Injectable, Logger, OnModuleInit } from '@nestjs/common';
import { Periodic } from '../../common/periodic';
import { Database } from '../../database/database';
import { QueueFloors } from './queue-floors';
import { QueueFloorsRepository } from './queue-floors.repository';

const INTERVAL_MS = 10_000;
/** Interval at which floors are saved. */
const SAVED_EVERY_MS = 60_000;
/**
 * Number of dead rows of a queue from which floors are used. Vacuum leaves more only while a snapshot keeps
 * them.
 */
const MANY_DEAD_ROWS = 10_000;
/** Number of floors that one statement saves. */
const BATCH = 1_000;

/**
 * Has floors used while a queue has many dead rows. Meanwhile it saves the floors of the sub-queues that this
 * worker claims from. It takes over the floors of other workers when it starts and once a minute. So the
 * first claim of a worker that starts reads no more than the dead rows of two minutes.
 */
@Injectable()
export class FloorKeeper implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(FloorKeeper.name);
  private readonly timer = new Periodic(
    INTERVAL_MS,
    () => this.exchangeFloors(),
    (error) => this.logger.warn({ err: error }, 'the floors of the queues were not kept; it will be retried'),
  );
  /** Time of the last exchange with other workers, in milliseconds since 1970. */
  private exchangedAt = 0;

  constructor(
    private readonly database: Database,
    private readonly floors: QueueFloors,
    private readonly saved: QueueFloorsRepository,
  ) {}

  /** Takes over floors before anything is claimed. After a failure claims read from the beginning. */
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
