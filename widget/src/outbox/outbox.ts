import type { Message } from '../protocol/types';
import { randomId } from '../session/visitor-session';
import type { FileProblem, OutboxFile, OutboxRecord } from './outbox-record';
import type { OutboxStore } from './outbox-store';

/** Time for which sent messages are stored, so that they can be sent again if the service loses them. */
const KEEP_SENT_MS = 10 * 60 * 1000;

type Draft = Pick<OutboxRecord, 'body' | 'files' | 'name' | 'email'>;

/** Stores one visitor's unsent and recently sent messages, in memory and in IndexedDB. */
export class Outbox {
  private readonly byId = new Map<string, OutboxRecord>();

  /**
   * @param onChange receives a record that this tab has changed; null if another tab changed it
   */
  constructor(
    readonly owner: string,
    private readonly store: OutboxStore,
    private readonly onChange: (changed: OutboxRecord | null) => void,
  ) {}

  get records(): OutboxRecord[] {
    return [...this.byId.values()].sort((one, other) => one.order - other.order);
  }

  /** Returns the oldest waiting message without files to upload, so that a text does not wait for them. */
  nextToSend(): OutboxRecord | undefined {
    return this.records.find((record) => record.state === 'waiting' && !fileToUpload(record));
  }

  nextToUpload(): OutboxRecord | undefined {
    return this.records.find((record) => record.state === 'waiting' && fileToUpload(record));
  }

  /** Reads the records from IndexedDB. Forgets messages that were sent over ten minutes ago. */
  async load(): Promise<void> {
    for (const record of await this.store.list(this.owner)) this.take(record);
    for (const record of this.records)
      if (record.state === 'sent' && Math.abs(Date.now() - (record.sentAt ?? 0)) > KEEP_SENT_MS)
        await this.forget(record);
  }

  /** Adds a message. It is stored first, so that a shown message survives the end of the tab. */
  async add(draft: Draft): Promise<void> {
    const order = Math.max(Date.now(), ...this.records.map((record) => record.order + 1));
    const clientMessageId = randomId();
    await this.save({
      ...draft,
      clientMessageId,
      owner: this.owner,
      order,
      state: 'waiting',
      revision: 1,
    });
  }

  async retry(clientMessageId: string): Promise<void> {
    const record = this.byId.get(clientMessageId);
    if (record?.state === 'failed')
      await this.change(record, { state: 'waiting', problem: undefined, isRepeated: undefined });
  }

  async markFailed(record: OutboxRecord, problem?: FileProblem): Promise<void> {
    await this.changeCurrent(record, () => ({ state: 'failed', problem }));
  }

  /** Records a step of a file's upload. Does nothing if the visitor has cancelled the message. */
  async changeFile(record: OutboxRecord, fileId: string, change: Partial<OutboxFile>): Promise<void> {
    await this.changeCurrent(record, ({ files = [] }) => ({
      files: files.map((file) => (file.fileId === fileId ? { ...file, ...change } : file)),
    }));
  }

  /** Uploads a message's files again, once, because the service does not know them any more. */
  async uploadAgain(record: OutboxRecord): Promise<void> {
    await this.changeCurrent(record, ({ files }) => ({ files: notUploaded(files), isRepeated: true }));
  }

  /** Deletes an unsent message here and in the other tabs. */
  async cancel(clientMessageId: string): Promise<void> {
    const record = this.byId.get(clientMessageId);
    if (!record || record.state === 'sent') return;
    await this.forget(record);
    this.onChange({ ...record, state: 'cancelled', revision: record.revision + 1 });
  }

  has({ clientMessageId }: OutboxRecord): boolean {
    return this.byId.has(clientMessageId);
  }

  /** Marks the record of a message as sent; does nothing if this browser has no record of the message. */
  async markSent(message: Message): Promise<void> {
    const record = this.byId.get(message.clientMessageId ?? '');
    if (record && record.state !== 'sent')
      await this.change(record, { state: 'sent', message, sentAt: Date.now() });
  }

  /** Sends those messages again that the service had stored, but has lost in a failover. */
  async sendAgainUnless(isStored: (message: Message) => boolean): Promise<void> {
    for (const record of this.records)
      if (record.state === 'sent' && record.message && !isStored(record.message))
        await this.change(record, { state: 'waiting', message: undefined, sentAt: undefined });
  }

  async forgetSent(): Promise<void> {
    for (const record of this.records) if (record.state === 'sent') await this.forget(record);
  }

  /** Replaces a record by another tab's copy if that copy is newer. Returns whether it was newer. */
  take(record: OutboxRecord): boolean {
    if (record.owner !== this.owner) return false;
    if (record.revision <= (this.byId.get(record.clientMessageId)?.revision ?? 0)) return false;
    if (record.state === 'cancelled') this.byId.delete(record.clientMessageId);
    else this.byId.set(record.clientMessageId, record);
    this.onChange(null);
    return true;
  }

  /** Moves the unsent messages to the outbox of another owner, who is the same person after a log-in. */
  async moveTo(other: Outbox): Promise<void> {
    await this.load();
    for (const record of this.records)
      if (record.state !== 'sent') {
        this.byId.delete(record.clientMessageId);
        // The service keeps an upload for the visitor who made it.
        await other.change(record, { owner: other.owner, files: notUploaded(record.files) });
      }
  }

  private async changeCurrent(
    { clientMessageId }: OutboxRecord,
    change: (current: OutboxRecord) => Partial<OutboxRecord>,
  ): Promise<void> {
    const current = this.byId.get(clientMessageId);
    if (current) await this.change(current, change(current));
  }

  private async change(record: OutboxRecord, change: Partial<OutboxRecord>): Promise<void> {
    await this.save({ ...record, ...change, revision: record.revision + 1 });
  }

  private async save(record: OutboxRecord): Promise<void> {
    await this.store.put(record);
    this.byId.set(record.clientMessageId, record);
    this.onChange(record);
  }

  async forget({ clientMessageId }: Pick<OutboxRecord, 'clientMessageId'>): Promise<void> {
    const files = this.byId.get(clientMessageId)?.files;
    this.byId.delete(clientMessageId);
    await this.store.remove(clientMessageId);
    for (const { fileId } of files ?? [])
      if (!this.records.some((record) => record.files?.some((file) => file.fileId === fileId)))
        await this.store.files.remove(fileId);
  }
}

/** Returns a message's first file that the service does not have yet. */
export function fileToUpload({ files }: OutboxRecord): OutboxFile | undefined {
  return files?.find(({ isUploaded }) => !isUploaded);
}

function notUploaded(files: OutboxFile[] | undefined): OutboxFile[] | undefined {
  return files?.map(({ uploadId: _, isUploaded: __, ...file }) => file);
}
