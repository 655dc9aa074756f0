/** Longest wait in milliseconds for the answers of this tab's requests before reported changes are read. */
const MAX_WAIT_MS = 1_000;

/** Ids of events that this tab's requests have caused and that the stream has not reported. */
const own = new Set<string>();
/** Requests of this tab whose answers have not arrived. */
const acts = new Set<Promise<unknown>>();

/** Awaits a request whose effect the page shows, and stores its event ids, so that they cause no read. */
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

/** Returns the changes that this tab's requests did not cause. Waits up to 1 s for running requests. */
export async function withoutOwn<T extends { eventId?: string }>(changes: T[]): Promise<T[]> {
  if (acts.size > 0) {
    const waited = new Promise((resolve) => setTimeout(resolve, MAX_WAIT_MS));
    await Promise.race([Promise.allSettled(acts), waited]);
  }
  return changes.filter(({ eventId }) => eventId === undefined || !own.delete(eventId));
}
