import { BeforeApplicationShutdown, Injectable, Logger, OnModuleInit } from '@nestjs/common';
import { groupByWorkspace } from '../common/group-by';
import { Periodic } from '../common/periodic';
import { Config } from '../config/config';
import { OldestSnapshot } from '../database/oldest-snapshot';
import { QueueFloor, QueueFloors } from './queue-floors';
import { QueueFloorsRepository } from './queue-floors.repository';

const INTERVAL_MS = 60_000;
/** Age in seconds of a snapshot that keeps so many dead rows that no part is read from its beginning. */
const OLD_SNAPSHOT_S = 60;
/** Number of floors that one statement saves. */
const BATCH = 1_000;

/**
 * Saves the floors of the parts that this worker claims from, once a minute, and takes over those of other
 * workers: at the start, so that the first claim of a part reads no more than the dead rows of two minutes.
 * While no snapshot keeps dead rows, it has all parts searched from their beginning, too.
 */
@Injectable()
export class FloorKeeper implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(FloorKeeper.name);
  private readonly rounds = new Periodic(
    INTERVAL_MS,
    () => this.run(),
    (error) =>
      this.logger.warn({ err: error }, 'the floors of the queues were not saved; retried in a minute'),
  );
  private loadedAt = 0;

  constructor(
    private readonly config: Config,
    private readonly floors: QueueFloors,
    private readonly saved: QueueFloorsRepository,
    private readonly snapshots: OldestSnapshot,
  ) {}

  /** Loads the floors before anything is claimed. After a failure claims read from the beginning. */
  async onModuleInit(): Promise<void> {
    await this.load().catch((error: Error) =>
      this.logger.warn({ err: error }, 'the floors of the queues were not loaded; retried in a minute'),
    );
    this.rounds.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.rounds.stop();
  }

  private async run(): Promise<void> {
    for (const batch of this.batches(this.floors.takeUnsaved())) await this.saved.save(batch);
    await this.load();
    const { seconds } = await this.snapshots.read();
    if (seconds < OLD_SNAPSHOT_S) this.floors.doubt();
  }

  private async load(): Promise<void> {
    const now = Date.now();
    this.floors.addSaved(await this.saved.list(new Date(this.loadedAt)));
    this.loadedAt = now - INTERVAL_MS;
  }

  private batches(floors: QueueFloor[]): QueueFloor[][] {
    const groups = this.config.crossWorkspaceBatches ? [floors] : [...groupByWorkspace(floors).values()];
    return groups.flatMap((group) =>
      Array.from({ length: Math.ceil(group.length / BATCH) }, (_, n) =>
        group.slice(n * BATCH, (n + 1) * BATCH),
      ),
    );
  }
}
