import type { Message } from '../protocol/types';
import { randomId } from '../session/visitor-session';
import type { OutboxRecord } from './outbox-record';
import type { OutboxStore } from './outbox-store';

/**
 * Time for which sent messages are kept: a failover of the service may lose them, and then they are sent
 * again.
 */
const KEEP_SENT_MS = 10 * 60 * 1000;

type Draft = Pick<OutboxRecord, 'body' | 'name' | 'email'>;

/** Messages that one visitor has written in this browser. */
export class Outbox {
  private readonly byId = new Map<string, OutboxRecord>();

  /**
   * Makes an empty outbox.
   * @param onChange gets a record that other tabs don't know yet, or null when only the display must change
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

  /** Reads the records that this tab's memory lacks. */
  async load(): Promise<void> {
    for (const record of await this.store.list(this.owner)) this.take(record);
    for (const record of this.records)
      if (record.state === 'sent' && Math.abs(Date.now() - (record.sentAt ?? 0)) > KEEP_SENT_MS)
        await this.forget(record);
  }

  /**
   * Adds a message. It is stored before it is shown: a message that is shown as sending can't get lost with
   * the tab.
   */
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

  /** Notes that the service has stored a message, which may have been written in another browser. */
  async markSent(message: Message): Promise<void> {
    const record = this.byId.get(message.clientMessageId ?? '');
    if (record && record.state !== 'sent')
      await this.change(record, { state: 'sent', message, sentAt: Date.now() });
  }

  /** Sends messages again that the service no longer has, because it has lost its latest changes. */
  async sendAgainUnless(isStored: (message: Message) => boolean): Promise<void> {
    for (const record of this.records)
      if (record.state === 'sent' && record.message && !isStored(record.message))
        await this.change(record, { state: 'waiting', message: undefined, sentAt: undefined });
  }

  async forgetSent(): Promise<void> {
    for (const record of this.records) if (record.state === 'sent') await this.forget(record);
  }

  /** Takes over another tab's copy of a record if it is newer, and returns whether it was. */
  take(record: OutboxRecord): boolean {
    if (record.owner !== this.owner) return false;
    if (record.revision <= (this.byId.get(record.clientMessageId)?.revision ?? 0)) return false;
    this.byId.set(record.clientMessageId, record);
    this.onChange(null);
    return true;
  }

  /** Moves the unsent messages to another owner: the same person, now identified. */
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

  /** Forgets a message that the service has. */
  async forget({ clientMessageId }: Pick<OutboxRecord, 'clientMessageId'>): Promise<void> {
    this.byId.delete(clientMessageId);
    await this.store.remove(clientMessageId);
  }
}
