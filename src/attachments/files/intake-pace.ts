import { Injectable } from '@nestjs/common';

/** Bytes that a process takes in of a workspace's files in a millisecond: 8 MiB a second. */
const BYTES_PER_MS = (8 * 1024 * 1024) / 1000;
/** Milliseconds by which a workspace may be ahead of this rate. */
const AHEAD_MS = 100;
/** Number of workspaces above which those that are behind the rate are forgotten. */
const MAX_REMEMBERED = 1_000;

/**
 * Spreads the bytes of each workspace's files over time, so that many large files leave the processor, the
 * network and the disk to others.
 */
@Injectable()
export class IntakePace {
  /** Times by which the bytes of each workspace are taken in at the rate, in milliseconds of the process. */
  private readonly doneAt = new Map<string, number>();

  /**
   * Counts bytes of a workspace.
   * @returns a promise that settles once they fit into the rate; undefined if they do already
   */
  take(tenantId: string, bytes: number): Promise<void> | undefined {
    const now = performance.now();
    const doneAt = Math.max(this.doneAt.get(tenantId) ?? 0, now) + bytes / BYTES_PER_MS;
    this.doneAt.set(tenantId, doneAt);
    if (this.doneAt.size > MAX_REMEMBERED) this.forget(now);
    const waitMs = doneAt - AHEAD_MS - now;
    return waitMs > 0 ? new Promise((resolve) => setTimeout(resolve, waitMs)) : undefined;
  }

  private forget(now: number): void {
    for (const [tenantId, doneAt] of this.doneAt) {
      if (doneAt <= now) this.doneAt.delete(tenantId);
    }
  }
}
