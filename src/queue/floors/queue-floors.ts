import { Injectable } from '@nestjs/common';

/** Part of a queue that claims read on its own: that of a workspace, an endpoint or a connection. */
export interface QueuePart {
  queue: 'events' | 'deliveries' | 'messages';
  tenantId: string;
  /** Names the part within the queue and the workspace. */
  part: string;
}

export interface QueueFloor extends QueuePart {
  /** Time before which the part has no live row, by the database's clock. */
  floor: Date;
}

/**
 * Milliseconds before a floor from which a claim reads. The clocks of two processes differ by up to two
 * seconds, and a row appears when its transaction commits. A search finds what is later still.
 */
const CLAIM_SLACK_MS = 3_000;
/**
 * Milliseconds before a floor from which a search reads: longer than a transaction can be idle (30 s) and a
 * statement can last (5 s).
 */
export const SEARCH_SLACK_MS = 40_000;

interface KnownFloor extends QueuePart {
  /** Milliseconds since 1970; 0 before the first search. */
  floor: number;
  /** Whether a claim has read the part since its floor was last saved. */
  isUnsaved: boolean;
}

/**
 * Floors of the parts of the queues that are in use: the time before which a part has no live row. Claims and
 * searches begin there while a queue has many dead rows. So it is while a snapshot is held open, such as that
 * of a backup: PostgreSQL keeps every dead row and its index entries, and a read from the beginning of a part
 * would take longer with every event.
 */
@Injectable()
export class QueueFloors {
  private readonly known = new Map<string, KnownFloor>();
  /** Whether a queue has so many dead rows that floors are used. */
  areUsed = false;

  /** Begins to use floors, or forgets them all, so that each part is read from its beginning. */
  use(areUsed: boolean): void {
    this.areUsed = areUsed;
    if (!areUsed) this.known.clear();
  }

  /** Returns the time from which a claim reads a part, and counts the part as in use. */
  startOfClaim(part: QueuePart): Date {
    if (!this.areUsed) return new Date(0);
    const known = this.known.get(keyOf(part)) ?? this.add(part, 0);
    known.isUnsaved = true;
    return new Date(Math.max(0, known.floor - CLAIM_SLACK_MS));
  }

  /** Returns the time from which a search reads a part: 1970 for one that is not in use. */
  startOfSearch(part: QueuePart): Date {
    return new Date(Math.max(0, (this.known.get(keyOf(part))?.floor ?? 0) - SEARCH_SLACK_MS));
  }

  /** Notes the floor that a search has found, if the part is in use. */
  update(part: QueuePart, floor: Date): void {
    const known = this.known.get(keyOf(part));
    if (known) known.floor = floor.getTime();
  }

  /** Takes over floors of parts that other processes use. */
  addSaved(floors: QueueFloor[]): void {
    for (const part of floors) if (!this.known.has(keyOf(part))) this.add(part, part.floor.getTime());
  }

  /** Returns the floors of the parts that were in use since the last call. */
  takeUnsaved(): QueueFloor[] {
    const unsaved = [...this.known.values()].filter(({ floor, isUnsaved }) => isUnsaved && floor > 0);
    for (const known of unsaved) known.isUnsaved = false;
    return unsaved.map(({ queue, tenantId, part, floor }) => ({
      queue,
      tenantId,
      part,
      floor: new Date(floor),
    }));
  }

  private add({ queue, tenantId, part }: QueuePart, floor: number): KnownFloor {
    const known = { queue, tenantId, part, floor, isUnsaved: false };
    this.known.set(keyOf(known), known);
    return known;
  }
}

function keyOf({ queue, tenantId, part }: QueuePart): string {
  return `${queue} ${tenantId} ${part}`;
}
