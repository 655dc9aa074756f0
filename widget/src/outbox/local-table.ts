/** Milliseconds to wait for IndexedDB, which can hang. */
const TIMEOUT_MS = 2000;

/**
 * Stores rows in a table of IndexedDB, in a database that has only this table. If IndexedDB is refused or
 * hangs, it stores nothing.
 */
export class LocalTable<Row> {
  private database: Promise<IDBDatabase> | null = null;

  constructor(
    private readonly databaseName: string,
    private readonly table: string,
    private readonly key: keyof Row & string,
    private readonly timeoutMs = TIMEOUT_MS,
  ) {}

  /** Returns all rows; null if IndexedDB is refused or hangs. */
  list(): Promise<Row[] | null> {
    return this.inTransaction('readonly', (table) => table.getAll() as IDBRequest<Row[]>);
  }

  async get(key: string): Promise<Row | null> {
    const row = await this.inTransaction(
      'readonly',
      (table) => table.get(key) as IDBRequest<Row | undefined>,
    );
    return row ?? null;
  }

  /** Stores a row. Returns false if the browser refuses, for example because it has no room. */
  async put(row: Row): Promise<boolean> {
    return (await this.inTransaction('readwrite', (table) => table.put(row))) !== null;
  }

  async remove(key: string): Promise<void> {
    await this.inTransaction('readwrite', (table) => table.delete(key));
  }

  private async inTransaction<Result>(
    mode: IDBTransactionMode,
    action: (table: IDBObjectStore) => IDBRequest<Result>,
  ): Promise<Result | null> {
    const work = async () => {
      const database = await (this.database ??= this.open());
      const transaction = database.transaction(this.table, mode);
      const request = action(transaction.objectStore(this.table));
      await settled(transaction);
      return request.result;
    };
    try {
      return await withTimeout(work(), this.timeoutMs);
    } catch {
      // The next call opens the database again, because the browser may have closed it.
      this.database = null;
      return null;
    }
  }

  private open(): Promise<IDBDatabase> {
    return new Promise((resolve, reject) => {
      const request = indexedDB.open(this.databaseName, 1);
      request.onupgradeneeded = () =>
        void request.result.createObjectStore(this.table, { keyPath: this.key });
      request.onerror = () => reject(new Error('IndexedDB is refused.', { cause: request.error }));
      request.onsuccess = () => {
        // An open connection would prevent another tab from deleting or upgrading the database.
        request.result.onversionchange = () => request.result.close();
        resolve(request.result);
      };
    });
  }
}

function settled(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(new Error('IndexedDB has aborted.', { cause: transaction.error }));
  });
}

function withTimeout<Result>(work: Promise<Result>, ms: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('IndexedDB does not answer.')), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
