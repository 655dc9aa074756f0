/** Thing that work is claimed for: an endpoint or a channel connection of a workspace. */
export interface Target {
  tenantId: string;
  id: string;
  /**
   * Whether the work gives way to the target's live work. It is claimed apart from live work, as if for
   * another target.
   */
  isBackground?: boolean;
}

/** Returns a key that tells a target's background work from its live work. It is the id of a job in Redis. */
export function targetKeyOf({ id, isBackground }: Target): string {
  return isBackground ? `${id}:background` : id;
}
