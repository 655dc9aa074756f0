import { LocalTable } from '../outbox/local-table';

export interface StoredFile {
  fileId: string;
  blob: Blob;
  /** Epoch milliseconds at which the visitor chose the file. */
  chosenAt: number;
}

/** Time for which a file of no message stays in the browser. It may be in the draft of another tab. */
const KEEP_UNUSED_MS = 24 * 60 * 60 * 1000;
/** Milliseconds to wait for IndexedDB, which copies the file. */
const TIMEOUT_MS = 30_000;

/** Stores the bytes of files in IndexedDB. A file that IndexedDB refuses is only in the tab's memory. */
export class FileStore {
  private readonly table: LocalTable<StoredFile>;
  private readonly inMemory = new Map<string, Blob>();

  constructor(name: string) {
    this.table = new LocalTable(name, 'files', 'fileId', TIMEOUT_MS);
  }

  /** Stores a file. Returns false if it is only in memory, so that it is lost with the page. */
  async put(fileId: string, blob: Blob): Promise<boolean> {
    const isStored = await this.table.put({ fileId, blob, chosenAt: Date.now() });
    if (!isStored) this.inMemory.set(fileId, blob);
    return isStored;
  }

  /** Returns a file's bytes; null if this browser does not have the file, or cannot read it any more. */
  async get(fileId: string): Promise<Blob | null> {
    const blob = this.inMemory.get(fileId) ?? (await this.table.get(fileId))?.blob;
    return blob && (await isReadable(blob)) ? blob : null;
  }

  async remove(fileId: string): Promise<void> {
    if (!this.inMemory.delete(fileId)) await this.table.remove(fileId);
  }

  async sweep(isUsed: (fileId: string) => boolean): Promise<void> {
    for (const { fileId, chosenAt } of (await this.table.list()) ?? [])
      if (!isUsed(fileId) && Math.abs(Date.now() - chosenAt) > KEEP_UNUSED_MS) await this.remove(fileId);
  }
}

/** Reports whether the browser can read a file. It cannot read a dropped folder or a deleted file. */
export function isReadable(blob: Blob): Promise<boolean> {
  return blob
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    );
}
