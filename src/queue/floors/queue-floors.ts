import { Injectable } from '@nestjs/common';

/** Rows of a queue that one claim reads: the rows of one workspace, endpoint or connection. */
export interface SubQueue {
  queue: 'events' | 'deliveries' | 'messages';
  tenantId: string;
  key: string;
}

export interface QueueFloor extends SubQueue {
  /** Due time (an event's: the time in its id) before which the sub-queue has no row left. */
  floor: Date;
}

/**
 * Milliseconds before the floor (the due time before which no row is left) from which a claim reads. Clocks
 * of two processes differ by up to 2 s, and a row becomes visible only when its transaction commits. The
 * periodic search finds rows that a claim misses because they became visible later.
 */
const CLAIM_SLACK_MS = 3_000;
/**
 * Milliseconds before the floor (the due time before which no row is left) from which the periodic search
 * reads. It is longer than a transaction can be idle (30 s) and one statement can last (5 s).
 */
export const SEARCH_SLACK_MS = 40_000;

interface KnownFloor extends SubQueue {
  /** Milliseconds since 1970; 0 until a search has found it. */
  floor: number;
  /** Whether a claim has read the sub-queue since the last `takeUnsaved`. */
  isUnsaved: boolean;
}

/**
 * Stores the floor of each sub-queue in use: the due time before which it has no row left. While a queue has
 * many dead rows, claims and searches read a sub-queue from its floor on. That is so while a snapshot is held
 * open, such as a backup's: PostgreSQL retains every dead row and its index entries. A read from the
 * beginning of a sub-queue would then take longer with every event.
 */
@Injectable()
export class QueueFloors {
  private readonly known = new Map<string, KnownFloor>();
  areUsed = false;

  /** Switches on or off that reads skip a sub-queue's dead rows. When off, they start at its beginning. */
  use(areUsed: boolean): void {
    this.areUsed = areUsed;
    if (!areUsed) this.known.clear();
  }

  /** Returns the due time from which a claim reads the sub-queue, and marks the sub-queue as in use. */
  startOfClaim(subQueue: SubQueue): Date {
    if (!this.areUsed) return new Date(0);
    const known = this.known.get(keyOf(subQueue)) ?? this.add(subQueue, 0);
    known.isUnsaved = true;
    return new Date(Math.max(0, known.floor - CLAIM_SLACK_MS));
  }

  /** Returns the due time from which a search reads the sub-queue: 1970 if no claim has read it. */
  startOfSearch(subQueue: SubQueue): Date {
    return new Date(Math.max(0, (this.known.get(keyOf(subQueue))?.floor ?? 0) - SEARCH_SLACK_MS));
  }

  /**
   * Stores the due time of a sub-queue's first row that a search found, if a claim has read the sub-queue.
   */
  update(subQueue: SubQueue, floor: Date): void {
    const known = this.known.get(keyOf(subQueue));
    if (known) known.floor = floor.getTime();
  }

  /** Adds floors (due times of first rows) that other processes have saved for sub-queues unknown here. */
  addSaved(floors: QueueFloor[]): void {
    for (const saved of floors) if (!this.known.has(keyOf(saved))) this.add(saved, saved.floor.getTime());
  }

  /** Returns the floors (due times of first rows) of sub-queues that claims have read since the last call. */
  takeUnsaved(): QueueFloor[] {
    const unsaved = [...this.known.values()].filter(({ floor, isUnsaved }) => isUnsaved && floor > 0);
    for (const known of unsaved) known.isUnsaved = false;
    return unsaved.map(({ queue, tenantId, key, floor }) => ({
      queue,
      tenantId,
      key,
      floor: new Date(floor),
    }));
  }

  private add({ queue, tenantId, key }: SubQueue, floor: number): KnownFloor {
    const known = { queue, tenantId, key, floor, isUnsaved: false };
    this.known.set(keyOf(known), known);
    return known;
  }
}

function keyOf({ queue, tenantId, key }: SubQueue): string {
  return `${queue} ${tenantId} ${key}`;
}
