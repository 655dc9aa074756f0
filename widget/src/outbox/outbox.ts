import type { Message } from '../protocol/types';
import { randomId } from '../session/visitor-session';
import type { OutboxRecord } from './outbox-record';
import type { OutboxStore } from './outbox-store';

/**
 * Time for which sent messages are kept, because a failover of the service may lose them and they are sent
 * again.
 */
const KEEP_SENT_MS = 10 * 60 * 1000;

type Draft = Pick<OutboxRecord, 'body' | 'name' | 'email'>;

/** The messages that one visitor has written in this browser. */
export class Outbox {
  private readonly byId = new Map<string, OutboxRecord>();

  /** @param onChange with a record that other tabs don't know yet, or null: only what is shown changes */
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

  /** Kept before it is shown: what the visitor sees as sending can't get lost with the tab. */
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

  /** The service has stored a message. It may have been written elsewhere. */
  async markSent(message: Message): Promise<void> {
    const record = this.byId.get(message.clientMessageId ?? '');
    if (record && record.state !== 'sent')
      await this.change(record, { state: 'sent', message, sentAt: Date.now() });
  }

  /** The service has lost its last moments: what it has no more is sent again. */
  async sendAgainUnless(isStored: (message: Message) => boolean): Promise<void> {
    for (const record of this.records)
      if (record.state === 'sent' && record.message && !isStored(record.message))
        await this.change(record, { state: 'waiting', message: undefined, sentAt: undefined });
  }

  async forgetSent(): Promise<void> {
    for (const record of this.records) if (record.state === 'sent') await this.forget(record);
  }

  /** Stores another tab's copy if it is newer, and returns whether it was. */
  take(record: OutboxRecord): boolean {
    if (record.owner !== this.owner) return false;
    if (record.revision <= (this.byId.get(record.clientMessageId)?.revision ?? 0)) return false;
    this.byId.set(record.clientMessageId, record);
    this.onChange(null);
    return true;
  }

  /** Gives what is unsent to another owner: the same person, who has been identified. */
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

  private async forget({ clientMessageId }: OutboxRecord): Promise<void> {
    this.byId.delete(clientMessageId);
    await this.store.remove(clientMessageId);
  }
}
