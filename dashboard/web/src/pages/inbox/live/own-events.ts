/** Time for which notices wait for the answers of acts that are on their way. */
const MAX_WAIT_MS = 1_000;

/** Events of the acts of this tab, which shows their changes already, until a notice tells of them. */
const own = new Set<string>();
/** Acts whose answers are on their way. */
const acts = new Set<Promise<unknown>>();

/**
 * Returns the answer of an act whose changes the page shows by itself. When notices tell of the act's events,
 * nothing is read.
 */
export async function withOwnEvents<T>(act: Promise<T>, eventsOf: (answer: T) => string[]): Promise<T> {
  acts.add(act);
  try {
    const answer = await act;
    for (const id of eventsOf(answer)) own.add(id);
    return answer;
  } finally {
    acts.delete(act);
  }
}

/** Returns the changes that are not by acts of this tab. A notice may come before the answer of its act. */
export async function withoutOwn<T extends { eventId?: string }>(changes: T[]): Promise<T[]> {
  if (acts.size > 0) {
    const waited = new Promise((resolve) => setTimeout(resolve, MAX_WAIT_MS));
    await Promise.race([Promise.allSettled(acts), waited]);
  }
  return changes.filter(({ eventId }) => eventId === undefined || !own.delete(eventId));
}
