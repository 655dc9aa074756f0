/** What work is claimed for: an endpoint or a connection of a workspace. */
export interface Target {
  tenantId: string;
  id: string;
  /** Whether the work gives way to the target's live work. It is claimed for by itself, as for a target of its own. */
  isBackground?: boolean;
}

/** Returns the target's id, which tells its background work from its live work. It is a job's id in Redis. */
export function targetKeyOf({ id, isBackground }: Target): string {
  return isBackground ? `${id}:background` : id;
}
