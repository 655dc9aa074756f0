import type { ConversationChange, Message, Note } from '../../../api/types';

/** Message, change or note. `at` is its time (ISO 8601), `day` its day's beginning in ms since 1970. */
export type Entry = { at: string; day: number } & (
  | { message: Message }
  | { change: ConversationChange }
  | { note: Note }
);

export function idOf(entry: Entry): string {
  if ('message' in entry) return entry.message.id;
  return 'note' in entry ? entry.note.id : entry.change.id;
}

/** Returns the items that were created from `since` to `until`, both included. Undefined means no limit. */
export function shownOf<T extends { createdAt: string }>(
  items: T[],
  since: string | undefined,
  until: string | undefined,
): T[] {
  return items.filter(
    ({ createdAt }) =>
      (since === undefined || createdAt >= since) && (until === undefined || createdAt <= until),
  );
}

/** Merges lists sorted newest first into one list sorted oldest first. */
export function entriesOf(messages: Message[], changes: ConversationChange[], notes: Note[]): Entry[] {
  const entries = [
    ...messages.toReversed().map((message) => ({ ...timeOf(message), message })),
    ...changes.toReversed().map((change) => ({ ...timeOf(change), change })),
    ...notes.toReversed().map((note) => ({ ...timeOf(note), note })),
  ];
  // The sort is stable, so a message stays before changes that it caused in the same millisecond.
  return entries.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

function timeOf({ createdAt }: { createdAt: string }) {
  return { at: createdAt, day: new Date(createdAt).setHours(0, 0, 0, 0) };
}
