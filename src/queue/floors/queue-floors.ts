import { Injectable } from '@nestjs/common';

/** Part of a queue that one claim reads: the rows of one workspace, endpoint or connection. */
export interface SubQueue {
  queue: 'events' | 'deliveries' | 'messages';
  tenantId: string;
  key: string;
}

export interface QueueFloor extends SubQueue {
  /** Due time before which the sub-queue has no row left. An event's due time is the time in its id. */
  floor: Date;
}

/**
 * A claim reads from this many milliseconds before the floor (the due time before which no row is left),
 * because rows may appear there late. Clocks of two processes differ by up to 2 s, and a row becomes visible
 * only when its transaction commits. The periodic search finds rows that appear even later.
 */
const CLAIM_SLACK_MS = 3_000;
/**
 * The periodic search reads from this many milliseconds before the floor (the due time before which no row is
 * left), because a row becomes visible only when its transaction commits. A transaction can be idle for 30 s,
 * and its last statement can take 5 s.
 */
export const SEARCH_SLACK_MS = 40_000;

interface KnownFloor extends SubQueue {
  /** Due time before which no row is left, in milliseconds since 1970; 0 until a search has found it. */
  floor: number;
  /** Whether a claim has read the sub-queue since the last `takeUnsaved`. */
  isUnsaved: boolean;
}

/**
 * Stores the floor of each sub-queue in use: the due time before which it has no row left. While a queue has
 * many dead rows, claims and searches read each sub-queue from its floor on, because a read from the
 * beginning would take too long. Dead rows accumulate while a snapshot is held open, such as a backup's,
 * because PostgreSQL must retain them.
 */
@Injectable()
export class QueueFloors {
  private readonly known = new Map<string, KnownFloor>();
  areUsed = false;

  /** Switches floors on or off. While they are off, reads start at the beginning of a sub-queue. */
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

  /** Returns the due time from which a search reads the sub-queue: 1970 if its floor is not known. */
  startOfSearch(subQueue: SubQueue): Date {
    return new Date(Math.max(0, (this.known.get(keyOf(subQueue))?.floor ?? 0) - SEARCH_SLACK_MS));
  }

  /** Stores the due time of a sub-queue's first row. Ignores a sub-queue that this process does not use. */
  update(subQueue: SubQueue, floor: Date): void {
    const known = this.known.get(keyOf(subQueue));
    if (known) known.floor = floor.getTime();
  }

  /** Adds floors that other processes have saved, for sub-queues of which this process knows no floor. */
  addSaved(floors: QueueFloor[]): void {
    for (const saved of floors) if (!this.known.has(keyOf(saved))) this.add(saved, saved.floor.getTime());
  }

  /** Returns the floors of the sub-queues that claims have read since the last call of this method. */
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
