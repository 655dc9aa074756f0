/**
 * Longest wait, in milliseconds, for the answers of acts in progress before reported changes are processed.
 */
const MAX_WAIT_MS = 1_000;

/**
 * Ids of events caused by acts in this tab, which has shown their effect. An id is removed when the stream
 * reports the event.
 */
const own = new Set<string>();
/** Acts whose answers have not arrived. */
const acts = new Set<Promise<unknown>>();

/**
 * Awaits an act whose effect the page shows by itself, and returns the act's answer. Stores the ids of the
 * act's events, so that the stream's report of them causes no read.
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

/**
 * Returns the changes that were not caused by acts in this tab. Waits for acts in progress, because the
 * stream may report an event before its act's answer arrives.
 */
export async function withoutOwn<T extends { eventId?: string }>(changes: T[]): Promise<T[]> {
  if (acts.size > 0) {
    const waited = new Promise((resolve) => setTimeout(resolve, MAX_WAIT_MS));
    await Promise.race([Promise.allSettled(acts), waited]);
  }
  return changes.filter(({ eventId }) => eventId === undefined || !own.delete(eventId));
}
