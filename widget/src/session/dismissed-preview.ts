import { readStored, writeStored } from './stored';

interface Dismissed {
  messageId: string;
}

const keyOf = (key: string): string => `${key}:preview`;

/** Returns the id of the newest message whose preview was dismissed or opened; empty if none was. */
export const readDismissed = (key: string): string =>
  readStored<Dismissed>('localStorage', keyOf(key), ({ messageId }) => typeof messageId === 'string')
    ?.messageId ?? memory;

let memory = '';

/** Stores the id in localStorage; if storage is refused, in the memory of this page. */
export function writeDismissed(key: string, messageId: string): void {
  if (!writeStored('localStorage', keyOf(key), { messageId })) memory = messageId;
}
