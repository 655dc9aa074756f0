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
  /** Ids of cancelled messages. Neither a late change nor another tab's copy lets such a message be sent. */
  private readonly cancelled = new Set<string>();

  /**
   * @param onChange receives a record that this tab has changed; null if another tab changed it
   */
  constructor(
    readonly owner: string,
    private readonly store: OutboxStore,
    private readonly onChange: (changed: OutboxRecord | null) => void,
  ) {}

  /** Returns the messages without cancelled ones. */
  get records(): OutboxRecord[] {
    return this.all.filter(({ state }) => state !== 'cancelled');
  }

  /**
   * Returns the oldest message to send or to take back that has no files to upload, so that a text does not
   * wait for them.
   */
  nextToSend(): OutboxRecord | undefined {
    return this.due.find((record) => !fileToUpload(record));
  }

  /** Returns the oldest message with files to upload. If it is cancelled, its uploads are to be deleted. */
  nextToUpload(): OutboxRecord | undefined {
    return this.due.find(fileToUpload);
  }

  /**
   * Reads the records from IndexedDB. Drops unsent messages that another tab has deleted there, and messages
   * that were sent over ten minutes ago.
   */
  async load(): Promise<void> {
    const known = this.all;
    const stored = await this.store.list(this.owner);
    for (const record of stored ?? []) this.take(record);
    const ids = new Set(stored?.map(({ clientMessageId }) => clientMessageId));
    for (const { clientMessageId, state, isStored } of known)
      if (stored && isStored && state !== 'sent' && !ids.has(clientMessageId))
        this.byId.delete(clientMessageId);
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

  /** Records a step of a file's upload, also of a cancelled message, whose upload is to be deleted. */
  async changeFile(record: OutboxRecord, fileId: string, change: Partial<OutboxFile>): Promise<void> {
    await this.changeCurrent(record, ({ files = [] }) => ({
      files: files.map((file) => (file.fileId === fileId ? { ...file, ...change } : file)),
    }));
  }

  /** Uploads a message's files again, once, because the service does not know them any more. */
  async uploadAgain(record: OutboxRecord): Promise<void> {
    await this.changeCurrent(record, ({ files }) => ({ files: notUploaded(files), isRepeated: true }));
  }

  /**
   * Cancels an unsent message in all tabs. Its record is kept until the message and its uploads are taken
   * back from the service, which may have them already.
   */
  async cancel(clientMessageId: string): Promise<void> {
    const record = this.byId.get(clientMessageId);
    if (record && record.state !== 'sent') await this.cancelRecord(record);
  }

  isCancelled({ clientMessageId }: OutboxRecord): boolean {
    return this.cancelled.has(clientMessageId);
  }

  /** Marks the record of a message as sent; does nothing if this browser has no record of the message. */
  async markSent(message: Message): Promise<void> {
    const record = this.byId.get(message.clientMessageId ?? '');
    if (record && record.state !== 'sent' && record.state !== 'cancelled')
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

  /** Replaces a record by another tab's copy if that is newer or cancelled. Returns whether it was. */
  take(record: OutboxRecord): boolean {
    if (record.owner !== this.owner) return false;
    const { clientMessageId, state, revision } = record;
    const known = this.byId.get(clientMessageId);
    const isNewer = revision > (known?.revision ?? 0);
    const isCancelled = state === 'cancelled';
    // A tab may have changed or sent its copy before it learnt that another tab has cancelled the message.
    if (!isCancelled && this.isCancelled(record)) void this.cancelRecord(record);
    else if (isNewer) this.keep(record);
    else if (isCancelled && known!.state !== 'cancelled') void this.cancelRecord(known!);
    else return false;
    this.onChange(null);
    return true;
  }

  /** Moves the unsent messages to the outbox of another owner, who is the same person after a log-in. */
  async moveTo(other: Outbox): Promise<void> {
    await this.load();
    for (const record of this.all)
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

  private async cancelRecord(record: OutboxRecord): Promise<void> {
    const cancelled = { ...record, state: 'cancelled' as const, revision: record.revision + 1 };
    const stored = this.store.put(cancelled);
    // IndexedDB is not waited for, because the message must not be sent meanwhile.
    this.keep(cancelled);
    this.onChange(cancelled);
    await stored;
  }

  private async change(record: OutboxRecord, change: Partial<OutboxRecord>): Promise<void> {
    const state = this.isCancelled(record) && { state: 'cancelled' as const };
    await this.save({ ...record, ...change, ...state, revision: record.revision + 1 });
  }

  private async save(record: OutboxRecord): Promise<void> {
    const isStored = await this.store.put({ ...record, isStored: true });
    // The visitor may have cancelled the message meanwhile.
    if (this.isCancelled(record) && record.state !== 'cancelled') return this.change(record, {});
    const kept = { ...record, isStored };
    this.keep(kept);
    this.onChange(kept);
  }

  private keep(record: OutboxRecord): void {
    if (record.state === 'cancelled') this.cancelled.add(record.clientMessageId);
    this.byId.set(record.clientMessageId, record);
  }

  /** Messages for which something is to be done: to send or to take them back. */
  private get due(): OutboxRecord[] {
    return this.all.filter(({ state }) => state === 'waiting' || state === 'cancelled');
  }

  private get all(): OutboxRecord[] {
    return [...this.byId.values()].sort((one, other) => one.order - other.order);
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
