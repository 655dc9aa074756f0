import type { ConversationChange, Message, Note } from '../../../api/types';

/** Message, change or note, with its time and the beginning of its day. */
export type Entry = { at: string; day: number } & (
  | { message: Message }
  | { change: ConversationChange }
  | { note: Note }
);

export function idOf(entry: Entry): string {
  if ('message' in entry) return entry.message.id;
  return 'note' in entry ? entry.note.id : entry.change.id;
}

/** Returns the changes or notes from one time to another; without a time, from the first or to the last. */
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

/** Merges lists that have the newest first into one list that has the oldest first. */
export function entriesOf(messages: Message[], changes: ConversationChange[], notes: Note[]): Entry[] {
  const entries = [
    ...messages.toReversed().map((message) => ({ ...timeOf(message), message })),
    ...changes.toReversed().map((change) => ({ ...timeOf(change), change })),
    ...notes.toReversed().map((note) => ({ ...timeOf(note), note })),
  ];
  // Sorting keeps the order of entries of one moment: a message, and then the changes that it made.
  return entries.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

function timeOf({ createdAt }: { createdAt: string }) {
  return { at: createdAt, day: new Date(createdAt).setHours(0, 0, 0, 0) };
}
