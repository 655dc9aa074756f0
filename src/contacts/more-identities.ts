/**
 * Tells that a person has more ids than a transaction has locked. The transaction has written nothing yet,
 * and must not wait for their locks: who holds them may wait for its own.
 */
class MoreIdentities extends Error {
  constructor(readonly externalIds: string[]) {
    super('A person has more ids');
  }
}

/**
 * Requires that a transaction has locked all ids of a person.
 * @throws MoreIdentities
 */
export function requireLocked(locked: string[], externalIds: string[]): void {
  const more = externalIds.filter((id) => !locked.includes(id));
  if (more.length > 0) throw new MoreIdentities(more);
}

/**
 * Does work in a transaction, and again in a new one each time that it finds more ids of its person.
 * @param work gets the ids to lock beside the ids that it knows
 */
export async function lockingAll<T>(work: (more: string[]) => Promise<T>): Promise<T> {
  for (let more: string[] = []; ;) {
    try {
      return await work(more);
    } catch (error) {
      if (!(error instanceof MoreIdentities)) throw error;
      more = [...more, ...error.externalIds];
    }
  }
}
