import { useSyncExternalStore } from 'react';

/** Milliseconds of silence after which the stream of changes counts as lost. A heartbeat comes every 15 s. */
const SILENT_MS = 40_000;
/** Milliseconds between two reads of the shown data, without and with a live stream of changes. */
const POLL_MS = 5_000;
const POLL_BESIDE_STREAM_MS = 60_000;

let isLive = false;
/** Whether this tab holds the stream of changes and passes its events on to the other tabs. */
let isLeading = false;
let timer: number | undefined;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Stores whether the stream is live. After 40 s without another call, the stream counts as lost. */
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

/** Registers a listener for conversations that were assigned to the person or whose snooze ended. */
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

/** Returns the milliseconds between two reads of the shown data: more while the stream is live. */
export function usePollMs(besideStreamMs = POLL_BESIDE_STREAM_MS): number {
  return useSyncExternalStore(subscribe, () => isLive) ? besideStreamMs : POLL_MS;
}

/** Returns query options by which cached data is read less often while the stream of changes is live. */
export function useFreshness(besideStreamMs = POLL_BESIDE_STREAM_MS) {
  const live = useSyncExternalStore(subscribe, () => isLive);
  return live ? ({ staleTime: besideStreamMs, refetchOnWindowFocus: 'always' } as const) : {};
}
