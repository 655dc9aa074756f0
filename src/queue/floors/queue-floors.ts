import { Injectable } from '@nestjs/common';

/** Rows of a queue that claims read on their own: the rows of a workspace, an endpoint or a connection. */
export interface SubQueue {
  queue: 'events' | 'deliveries' | 'messages';
  tenantId: string;
  /** Names the sub-queue within the queue and the workspace. */
  key: string;
}

export interface QueueFloor extends SubQueue {
  /** Time before which the sub-queue has no live row, by the database's clock. */
  floor: Date;
}

/**
 * Milliseconds before a floor from which a claim reads. The clocks of two processes differ by up to two
 * seconds, and a row appears when its transaction commits. A search finds rows that appear still later.
 */
const CLAIM_SLACK_MS = 3_000;
/**
 * Milliseconds before a floor from which a search reads: longer than a transaction can be idle (30 s) and a
 * statement can last (5 s).
 */
export const SEARCH_SLACK_MS = 40_000;

interface KnownFloor extends SubQueue {
  /** Milliseconds since 1970; 0 before the first search. */
  floor: number;
  /** Whether a claim has read the sub-queue since its floor was last saved. */
  isUnsaved: boolean;
}

/**
 * Floors of the sub-queues in use: the time before which a sub-queue has no live row. Claims and searches
 * begin there while a queue has many dead rows. So it is while a snapshot is held open, such as that of a
 * backup: PostgreSQL keeps every dead row and its index entries, and a read from the beginning of a sub-queue
 * would take longer with every event.
 */
@Injectable()
export class QueueFloors {
  private readonly known = new Map<string, KnownFloor>();
  /** Whether a queue has so many dead rows that floors are used. */
  areUsed = false;

  /** Begins to use floors, or forgets them all, so that each sub-queue is read from its beginning. */
  use(areUsed: boolean): void {
    this.areUsed = areUsed;
    if (!areUsed) this.known.clear();
  }

  /** Returns the time from which a claim reads a sub-queue, and counts it as in use. */
  startOfClaim(subQueue: SubQueue): Date {
    if (!this.areUsed) return new Date(0);
    const known = this.known.get(keyOf(subQueue)) ?? this.add(subQueue, 0);
    known.isUnsaved = true;
    return new Date(Math.max(0, known.floor - CLAIM_SLACK_MS));
  }

  /** Returns the time from which a search reads a sub-queue: 1970 for one that is not in use. */
  startOfSearch(subQueue: SubQueue): Date {
    return new Date(Math.max(0, (this.known.get(keyOf(subQueue))?.floor ?? 0) - SEARCH_SLACK_MS));
  }

  /** Notes the floor that a search has found, if the sub-queue is in use. */
  update(subQueue: SubQueue, floor: Date): void {
    const known = this.known.get(keyOf(subQueue));
    if (known) known.floor = floor.getTime();
  }

  /** Takes over floors of sub-queues that other processes use. */
  addSaved(floors: QueueFloor[]): void {
    for (const saved of floors) if (!this.known.has(keyOf(saved))) this.add(saved, saved.floor.getTime());
  }

  /** Returns the floors of the sub-queues that were in use since the last call. */
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
