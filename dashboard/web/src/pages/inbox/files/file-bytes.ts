const DATABASE = 'dashboard-files';
const STORE = 'files';
/** Milliseconds for which the browser keeps a file that was never uploaded. */
const MAX_AGE_MS = 7 * 24 * 3_600_000;

/** Chosen files by key, while the page is open. They take no memory: the browser reads them from disk. */
const chosen = new Map<string, Blob>();

interface StoredFile {
  bytes: Blob;
  storedAt: number;
}

/**
 * Keeps the bytes of a chosen file over a reload, if the browser has room for them. While this page is open,
 * it holds a lock, from which other tabs know that the file is not lost.
 */
export async function keepBytes(key: string, bytes: Blob): Promise<void> {
  chosen.set(key, bytes);
  void navigator.locks?.request(lockOf(key), () => new Promise(() => undefined));
  await use('readwrite', (store) => store.put({ bytes, storedAt: Date.now() } satisfies StoredFile, key));
}

/** Returns the bytes of a chosen file; undefined if this browser has them no longer. */
export async function readBytes(key: string): Promise<Blob | undefined> {
  const bytes = chosen.get(key);
  if (bytes) return bytes;
  const stored = await use<StoredFile | undefined>('readonly', (store) => store.get(key));
  return stored?.bytes;
}

/** Reports whether the person has chosen the file in this page. */
export function isChosenHere(key: string): boolean {
  return chosen.has(key);
}

/** Reports whether the person has chosen the file in another tab that is still open. */
export async function isChosenElsewhere(key: string): Promise<boolean> {
  // Browsers lack locks in a page without HTTPS.
  if (!navigator.locks) return false;
  return navigator.locks.request(lockOf(key), { ifAvailable: true }, (lock) => lock === null);
}

/** Resolves once the tab in which the person has chosen the file is closed. */
export async function waitForClosedTab(key: string): Promise<void> {
  await navigator.locks.request(lockOf(key), () => undefined);
}

/** Frees the browser's copy of a file that the server has. It stays chosen as long as the page is open. */
export async function freeBytes(key: string): Promise<void> {
  await use('readwrite', (store) => store.delete(key));
}

/** Deletes the browser's copies of files that were forgotten, such as after a log-out. */
export async function freeOldBytes(): Promise<void> {
  const keys = await use<IDBValidKey[]>('readonly', (store) => store.getAllKeys());
  for (const key of keys ?? []) {
    const stored = await use<StoredFile | undefined>('readonly', (store) => store.get(key));
    if (stored && Date.now() - stored.storedAt > MAX_AGE_MS) await freeBytes(key as string);
  }
}

function lockOf(key: string): string {
  return `dashboard-file:${key}`;
}

/** Makes one request to the browser's database; undefined if it has none, or no room. */
async function use<T = unknown>(
  mode: IDBTransactionMode,
  act: (store: IDBObjectStore) => IDBRequest,
): Promise<T | undefined> {
  try {
    const database = await open();
    try {
      const transaction = database.transaction(STORE, mode);
      const request = act(transaction.objectStore(STORE));
      await new Promise<void>((resolve, reject) => {
        transaction.oncomplete = () => resolve();
        transaction.onerror = transaction.onabort = () => reject(transaction.error ?? new Error('No room.'));
      });
      return request.result as T;
    } finally {
      database.close();
    }
  } catch {
    // A private window may have no database. The files are then lost when the page is closed.
    return undefined;
  }
}

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('No database.'));
  });
}
