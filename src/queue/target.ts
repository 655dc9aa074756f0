/** What work is claimed for: an endpoint or a connection of a workspace. */
export interface Target {
  tenantId: string;
  id: string;
  /** Old work of the target, which gives way to its live work. A target of its own. */
  old?: boolean;
}

export function keyOf({ id, old }: Target): string {
  return old ? `${id}:old` : id;
}
