import { readStored, writeStored } from './stored';

interface Dismissed {
  messageId: string;
}

const keyOf = (key: string): string => `${key}:preview`;

/** Returns the id of the newest answer whose preview was dismissed or opened; empty before the first. */
export const readDismissed = (key: string): string =>
  readStored<Dismissed>('localStorage', keyOf(key), ({ messageId }) => typeof messageId === 'string')
    ?.messageId ?? memory;

let memory = '';

/** Remembers the answer, in all tabs and pages, or in this page if storage is refused. */
export function writeDismissed(key: string, messageId: string): void {
  if (!writeStored('localStorage', keyOf(key), { messageId })) memory = messageId;
}
