import { useSyncExternalStore } from 'react';
import { api, ApiError } from '../../../api/client';
import type { ChannelFileLimits, Upload } from '../../../api/types';
import type { ChosenFile, ChosenFiles } from '../reply/kept-replies';
import { refusalBySize, refusalOf } from './channel-refusal';
import { freeBytes, isChosenElsewhere, isChosenHere, readBytes, waitForClosedTab } from './file-bytes';
import { putFile } from './put-file';

const MAX_AT_ONCE = 3;
/** Milliseconds after which an upload is tried again that the network or the server has broken off. */
const PAUSE_MS = 5_000;
const TYPE = /^[\w.+-]+\/[\w.+-]+( *;.*)?$/;

/** State of an upload that has begun and is not done. */
export interface Transfer {
  /** Bytes that were sent. */
  sent: number;
  error?: ApiError;
  /** Ends the upload; undefined while it rests after an error. */
  abort?: () => void;
}

/** Uploads of this page, by the key of their file. They go on while other conversations are open. */
const transfers = new Map<string, Transfer>();
/** Keys of files whose bytes only another tab has. That tab uploads them. */
const elsewhere = new Set<string>();
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function set(key: string, transfer: Transfer | undefined): void {
  if (transfer) transfers.set(key, transfer);
  else transfers.delete(key);
  for (const notify of listeners) notify();
}

export function useTransfer(key: string): Transfer | undefined {
  return useSyncExternalStore(subscribe, () => transfers.get(key));
}

/** Conversation for whose reply files are uploaded, with the limits of its channel. */
export interface UploadTarget {
  workspaceId: string;
  conversationId: string;
  /** The files that are chosen for the reply. */
  chosen: ChosenFiles;
  limits: ChannelFileLimits;
}

/** Begins as many uploads of a conversation's chosen files as may run at once. */
export function continueUploads(target: UploadTarget): void {
  for (const file of target.chosen.list()) {
    const isRunning = [...transfers.values()].filter(({ abort }) => abort).length;
    if (isRunning >= MAX_AT_ONCE) return;
    const { key, upload: stored, refusal } = file;
    // Another tab may have called a file lost that only this page has.
    const isRefused = refusal && !(refusal.why === 'lost' && isChosenHere(key));
    if (!stored && !isRefused && !transfers.has(key) && !elsewhere.has(key)) void upload(target, file);
  }
}

/** Tries an upload again that has failed. */
export function retryUpload(target: UploadTarget, key: string): void {
  if (transfers.get(key)?.abort) return;
  set(key, undefined);
  continueUploads(target);
}

/** Takes a chosen file out of the reply. Ends its upload, and deletes it on the server. */
export function removeFile(target: UploadTarget, { key, upload: uploaded }: ChosenFile): void {
  const { workspaceId, chosen } = target;
  chosen.remove(key);
  transfers.get(key)?.abort?.();
  set(key, undefined);
  void freeBytes(key);
  // If this fails, the server deletes the upload after a day.
  if (uploaded) void api.delete(`/workspaces/${workspaceId}/uploads/${uploaded.id}`).catch(() => undefined);
  continueUploads(target);
}

async function upload(target: UploadTarget, file: ChosenFile): Promise<void> {
  const { workspaceId, conversationId, chosen, limits } = target;
  const { key, name, size, type, attempt = 0 } = file;
  const { change, list } = chosen;
  const path = `/workspaces/${workspaceId}/uploads`;
  const ending = new AbortController();
  const { signal } = ending;
  const refusal = refusalBySize(limits, size);
  if (refusal) {
    change(key, { refusal });
    return continueUploads(target);
  }
  if (file.refusal) change(key, { refusal: undefined });
  set(key, { sent: 0, abort: () => ending.abort() });
  let created: Upload | undefined;
  try {
    const bytes = await readBytes(key);
    if (!bytes) return await leaveToOtherTab(target, key);
    if (!(await isReadable(bytes))) return change(key, { refusal: { why: 'unreadable' } });
    const contentType = TYPE.test(type) ? type : undefined;
    created = await api.postOnce<Upload>(
      path,
      { conversationId, name, size, contentType },
      attempt === 0 ? key : `${key}-${attempt}`,
    );
    const onProgress = (sent: number) => signal.aborted || set(key, { ...transfers.get(key)!, sent });
    if (signal.aborted) return;
    const stored = await putFile<Upload>(`${path}/${created.id}/content`, bytes, { onProgress, signal });
    const { id, kind, contentType: found } = stored;
    const known = { kind: kind ?? 'FILE', contentType: found ?? 'application/octet-stream' };
    change(key, { upload: { id, ...known }, refusal: refusalOf(limits, { ...known, size }) });
    void freeBytes(key);
  } catch (error) {
    if (signal.aborted) return;
    const known = error instanceof ApiError ? error : new ApiError('NETWORK', 'No answer.', 0, null);
    // An upload without content lives for an hour. The next attempt begins a new one.
    if (created && known.status === 404) change(key, { attempt: attempt + 1 });
    set(key, { sent: 0, error: known });
    // A conversation that is gone answers the making of an upload so, and will not come back.
    const isOver = !created && known.status === 404;
    if (goesOnByItself(known) && !isOver) window.setTimeout(() => retryUpload(target, key), PAUSE_MS);
  } finally {
    if (signal.aborted && created) void api.delete(`${path}/${created.id}`).catch(() => undefined);
    if (!transfers.get(key)?.error) set(key, undefined);
    // A file that was removed meanwhile is uploaded no more.
    if (list().length > 0) continueUploads(target);
  }
}

/** Leaves the upload to another tab that has the file. If there is none, the file is lost. */
async function leaveToOtherTab(target: UploadTarget, key: string): Promise<void> {
  if (!(await isChosenElsewhere(key))) return target.chosen.change(key, { refusal: { why: 'lost' } });
  elsewhere.add(key);
  void waitForClosedTab(key).then(() => {
    elsewhere.delete(key);
    continueUploads(target);
  });
}

/** Reports whether an upload is tried again by itself: after all failures but a refusal by the server. */
export function goesOnByItself({ status }: ApiError): boolean {
  return status === 0 || status === 404 || status === 429 || status >= 500;
}

/** Reports whether the browser can read a file: not a folder, nor a file that was changed or deleted. */
function isReadable(bytes: Blob): Promise<boolean> {
  return bytes
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    );
}
