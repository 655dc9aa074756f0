import type { Message } from '../protocol/types';
import { randomId } from '../session/visitor-session';
import type { OutboxRecord } from './outbox-record';
import type { OutboxStore } from './outbox-store';

/** Time for which sent messages are stored, so that they can be sent again if the service loses them. */
const KEEP_SENT_MS = 10 * 60 * 1000;

type Draft = Pick<OutboxRecord, 'body' | 'name' | 'email'>;

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

  nextToSend(): OutboxRecord | undefined {
    return this.records.find(({ state }) => state === 'waiting');
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
    if (record?.state === 'failed') await this.change(record, { state: 'waiting' });
  }

  async markFailed(record: OutboxRecord): Promise<void> {
    await this.change(record, { state: 'failed' });
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
    this.byId.set(record.clientMessageId, record);
    this.onChange(null);
    return true;
  }

  /** Moves the unsent messages to the outbox of another owner, who is the same person after a log-in. */
  async moveTo(other: Outbox): Promise<void> {
    await this.load();
    for (const record of this.records)
      if (record.state !== 'sent') {
        this.byId.delete(record.clientMessageId);
        await other.change(record, { owner: other.owner });
      }
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
    this.byId.delete(clientMessageId);
    await this.store.remove(clientMessageId);
  }
}
