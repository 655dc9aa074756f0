import { useSyncExternalStore } from 'react';

/** Time for which the stream counts as live after a sign of its life: two heartbeats and some more. */
const SILENT_MS = 40_000;
/** Pauses between two reads of the shown data. */
const POLL_MS = 5_000;
const POLL_BESIDE_STREAM_MS = 60_000;

let isLive = false;
/** Whether this tab holds the stream, and speaks for all tabs. */
let isLeading = false;
let timer: number | undefined;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Notes whether the stream lives. It counts as lost by itself when it is silent. */
export function noteLive(next: boolean): void {
  clearTimeout(timer);
  if (next) timer = window.setTimeout(() => noteLive(false), SILENT_MS);
  if (next === isLive) return;
  isLive = next;
  for (const notify of listeners) notify();
}

export function noteLeading(next: boolean): void {
  isLeading = next;
}

export function leads(): boolean {
  return isLeading;
}

const handoverListeners = new Set<(conversationIds: string[]) => void>();

/** Calls back, in each tab, with the conversations that are handed over to the person. */
export function onHandedOver(listener: (conversationIds: string[]) => void): () => void {
  handoverListeners.add(listener);
  return () => handoverListeners.delete(listener);
}

export function noteHandedOver(conversationIds: string[]): void {
  for (const notify of handoverListeners) notify(conversationIds);
}

export function isStreamLive(): boolean {
  return isLive;
}

/** Returns the pause between two reads of the shown data: a long one while the stream tells of changes. */
export function usePollMs(besideStreamMs = POLL_BESIDE_STREAM_MS): number {
  return useSyncExternalStore(subscribe, () => isLive) ? besideStreamMs : POLL_MS;
}

/**
 * Returns the options that decide when a cached answer is read again as the page shows it once more. While
 * the stream lives, it tells of changes to data that is not shown too: a cached answer is then as good as one
 * that stays on the screen.
 */
export function useFreshness(besideStreamMs = POLL_BESIDE_STREAM_MS) {
  const live = useSyncExternalStore(subscribe, () => isLive);
  return live ? ({ staleTime: besideStreamMs, refetchOnWindowFocus: 'always' } as const) : {};
}
