import { FileStore } from '../files/file-store';
import { LocalTable } from './local-table';
import type { OutboxRecord } from './outbox-record';

/**
 * Stores unsent and recently sent messages of all visitors of this browser in IndexedDB. If IndexedDB is
 * refused or hangs, it stores nothing: the messages are then only in the tab's memory.
 */
export class OutboxStore {
  /** Files of the messages, and of drafts. */
  readonly files: FileStore;
  private readonly table: LocalTable<OutboxRecord>;

  constructor(name: string) {
    this.table = new LocalTable(name, 'outbox', 'clientMessageId');
    this.files = new FileStore(`${name}:files`);
  }

  /** Returns a visitor's records; null if IndexedDB is refused or hangs. */
  async list(owner: string): Promise<OutboxRecord[] | null> {
    return (await this.table.list())?.filter((record) => record.owner === owner) ?? null;
  }

  /** Stores a record. Returns false if the browser refuses, so that the record is only in memory. */
  put(record: OutboxRecord): Promise<boolean> {
    return this.table.put(record);
  }

  async remove(clientMessageId: string): Promise<void> {
    await this.table.remove(clientMessageId);
  }

  /** Deletes old files of no message, which drafts have left behind. */
  async sweepFiles(isChosen: (fileId: string) => boolean): Promise<void> {
    const records = await this.table.list();
    if (!records) return;
    const used = new Set(records.flatMap(({ files }) => files?.map(({ fileId }) => fileId) ?? []));
    await this.files.sweep((fileId) => used.has(fileId) || isChosen(fileId));
  }
}
