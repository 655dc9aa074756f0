import { Injectable } from '@nestjs/common';
import { newId } from '../common/ids';
import { Transaction } from '../database/database';
import { EventData, EventType } from './event-catalog';
import { OutboxSignal } from './outbox.signal';

/** How an event is appended. */
interface AppendOptions {
  /** True when the caller delivers the event itself, so that no consumer shall see it. */
  relayed?: boolean;
  /** Its place among the events of what it is about, where receivers may want to order them. */
  sequence?: string;
}

/** Appends domain events to the outbox. */
@Injectable()
export class OutboxService {
  constructor(private readonly signal: OutboxSignal) {}

  /**
   * Appends an event in the transaction of the change it tells of: both are committed, or neither. It
   * goes out with the transaction's next statement.
   * @returns the event's id
   */
  append<T extends EventType>(
    tx: Transaction,
    tenantId: string,
    type: T,
    data: EventData<T>,
    { relayed = false, sequence }: AppendOptions = {},
  ): Promise<string> {
    const id = newId();
    const now = new Date();
    tx.pipeline(
      `INSERT INTO events (tenant_id, id, type, data, sequence, created_at, relayed_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [tenantId, id, type, JSON.stringify(data), sequence ?? null, now, relayed ? now : null],
    );
    if (!relayed) tx.onCommit(() => this.signal.send());
    return Promise.resolve(id);
  }
}
