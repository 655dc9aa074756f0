import type { OutboxRecord } from './outbox-record';

const TABLE = 'outbox';
/** Milliseconds to wait for IndexedDB, which can hang. */
const TIMEOUT_MS = 2000;

/**
 * Stores unsent and recently sent messages of all visitors of this browser in IndexedDB. If IndexedDB is
 * refused or hangs, it stores nothing: the messages are then only in the tab's memory.
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
      // The next call opens the database again, because the browser may have closed it.
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
      // An open connection would prevent another tab from deleting or upgrading the database.
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
