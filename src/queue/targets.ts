import { Signal } from '../redis/redis-signals';

/** Endpoint or channel connection of a workspace, for which work is claimed. */
export interface Target {
  tenantId: string;
  id: string;
  /**
   * True for background work, such as recovered deliveries, which gives way to the target's live work.
   * Background and live work are claimed separately, as if they were for two targets.
   */
  isBackground?: boolean;
}

/** Target of a queue, such as of the queue of deliveries, with due items. */
export interface WakeUp {
  queue: string;
  target: Target;
}

/** Redis signal that a target has due items, to the worker of its workspace. */
export const TARGET_DUE: Signal<WakeUp> = { name: 'target:due' };

/** Returns a key that differs between a target's live and background work. It is the id of jobs in Redis. */
export function targetKeyOf({ id, isBackground }: Target): string {
  return isBackground ? `${id}:background` : id;
}

export function throughputKeyOf({ id }: Target): string {
  return `throughput:${id}`;
}

/** Queue of waiting targets without duplicates. Workspaces take turns, however many targets one has. */
export class FairQueue {
  private readonly workspaces = new Map<string, Map<string, Target>>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** Returns the ids of the workspaces that have targets in the queue. */
  tenantIds(): Iterable<string> {
    return this.workspaces.keys();
  }

  hasWorkspace(tenantId: string): boolean {
    return this.workspaces.has(tenantId);
  }

  has(target: Target): boolean {
    return this.workspaces.get(target.tenantId)?.has(targetKeyOf(target)) ?? false;
  }

  add(target: Target): void {
    const { tenantId } = target;
    let targets = this.workspaces.get(tenantId);
    if (!targets) this.workspaces.set(tenantId, (targets = new Map<string, Target>()));
    if (targets.has(targetKeyOf(target))) return;
    targets.set(targetKeyOf(target), target);
    this.count += 1;
  }

  delete(target: Target): boolean {
    const targets = this.workspaces.get(target.tenantId);
    if (!targets?.delete(targetKeyOf(target))) return false;
    this.count -= 1;
    if (targets.size === 0) this.workspaces.delete(target.tenantId);
    return true;
  }

  /** Removes and returns the next target. Its workspace moves behind all other workspaces. */
  next(): Target | undefined {
    for (const [tenantId, targets] of this.workspaces) {
      for (const target of targets.values()) {
        this.delete(target);
        if (this.workspaces.delete(tenantId) && targets.size > 0) this.workspaces.set(tenantId, targets);
        return target;
      }
    }
    return undefined;
  }
}
