/**
 * Error of a transaction that has not locked all ids of a person. The transaction is run again instead of
 * waiting for the missing locks, because another transaction that holds them may wait for its locks.
 */
class MoreIdentities extends Error {
  constructor(readonly externalIds: string[]) {
    super('A person has more ids');
  }
}

/**
 * Checks that a transaction has locked all ids of a person.
 * @throws MoreIdentities
 */
export function requireLocked(locked: string[], externalIds: string[]): void {
  const more = externalIds.filter((id) => !locked.includes(id));
  if (more.length > 0) throw new MoreIdentities(more);
}

/**
 * Runs work that opens a transaction, and runs it again each time it throws MoreIdentities.
 * @param work receives the ids to lock besides those that it knows
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
