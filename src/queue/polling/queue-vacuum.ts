import { Periodic } from '../../common/periodic';
import { OldestSnapshot } from '../../database/oldest-snapshot';
import { OwnerDatabase } from '../../database/owner-database';

const INTERVAL_MS = 10_000;
/** Age in seconds of a snapshot above which no vacuum runs, because it could not remove the dead rows. */
const OLD_SNAPSHOT_S = 60;

/**
 * Vacuums a queue table after `afterRows` of its rows have died, at most once in 10 seconds. Autovacuum alone
 * would let the table grow, because it checks only once a minute.
 */
export class QueueVacuum {
  private readonly runs: Periodic;
  private dead = 0;

  constructor(
    private readonly owner: OwnerDatabase,
    private readonly snapshots: OldestSnapshot,
    private readonly queue: 'event_queue' | 'pending_deliveries',
    private readonly afterRows: number,
    onError: (error: Error) => void,
  ) {
    this.runs = new Periodic(INTERVAL_MS, () => this.vacuumIfDue(), onError);
  }

  start(): void {
    this.runs.start();
  }

  stop(): Promise<void> {
    return this.runs.stop();
  }

  count(rows: number): void {
    this.dead += rows;
  }

  private async vacuumIfDue(): Promise<void> {
    if (this.dead < this.afterRows) return;
    const { seconds } = await this.snapshots.read();
    if (seconds > OLD_SNAPSHOT_S) return;
    this.dead = 0;
    await this.owner.vacuum(this.queue);
  }
}
