import type { OutboxRecord } from './outbox-record';

const TABLE = 'outbox';
/** Time that the visitor waits for the browser's database, which can hang. */
const TIMEOUT_MS = 2000;

/**
 * The outbox in IndexedDB, for all tabs and visitors of this browser. If the browser refuses the database or
 * it hangs, nothing is stored, and the records live in the tab's memory alone.
 */
export class OutboxStore {
  private database: Promise<IDBDatabase> | null = null;

  constructor(private readonly name: string) {}

  async list(owner: string): Promise<OutboxRecord[]> {
    const records = await this.inTransaction(
      'readonly',
      (table) => table.getAll() as IDBRequest<OutboxRecord[]>,
    );
    return (records ?? []).filter((record) => record.owner === owner);
  }

  async put(record: OutboxRecord): Promise<void> {
    await this.inTransaction('readwrite', (table) => table.put(record));
  }

  async remove(clientMessageId: string): Promise<void> {
    await this.inTransaction('readwrite', (table) => table.delete(clientMessageId));
  }

  private async inTransaction<Result>(
    mode: IDBTransactionMode,
    action: (table: IDBObjectStore) => IDBRequest<Result>,
  ): Promise<Result | null> {
    const work = async () => {
      const database = await (this.database ??= open(this.name));
      const transaction = database.transaction(TABLE, mode);
      const request = action(transaction.objectStore(TABLE));
      await settled(transaction);
      return request.result;
    };
    try {
      return await withTimeout(work());
    } catch {
      // The database was refused, is full, or was closed by the browser: the next call opens it again.
      this.database = null;
      return null;
    }
  }
}

function open(name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () =>
      void request.result.createObjectStore(TABLE, { keyPath: 'clientMessageId' });
    request.onerror = () => reject(new Error('IndexedDB is refused.', { cause: request.error }));
    request.onsuccess = () => {
      // Without this, another tab could not delete or change the database.
      request.result.onversionchange = () => request.result.close();
      resolve(request.result);
    };
  });
}

function settled(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(new Error('IndexedDB has aborted.', { cause: transaction.error }));
  });
}

function withTimeout<Result>(work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('IndexedDB does not answer.')), TIMEOUT_MS);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
