import { Injectable } from '@nestjs/common';
import { newId } from '../common/ids';
import { Pipelined, Transaction } from '../database/transaction';
import { eventCatalog, EventData, EventType } from './event-catalog';
import { OutboxSignal } from './outbox.signal';

interface AppendOptions {
  id?: string;
  /** True when the caller delivers the event itself: no consumer sees it. */
  relayed?: boolean;
}

interface OrderedOptions extends AppendOptions {
  /** The event's number within its conversation. */
  sequence: string;
}

/** Types with an order in the catalog need a sequence; the others have none. */
type Options<T extends EventType> = (typeof eventCatalog)[T]['order'] extends null
  ? [options?: AppendOptions]
  : [options: OrderedOptions];

@Injectable()
export class OutboxService {
  constructor(private readonly signal: OutboxSignal) {}

  /** Appends an event in the transaction of the change that it reports: both commit, or neither. */
  appendPipelined<T extends EventType>(
    tx: Transaction,
    tenantId: string,
    type: T,
    data: EventData<T>,
    ...[options]: Options<T>
  ): Pipelined {
    const { id = newId(), relayed = false, sequence }: Partial<OrderedOptions> = options ?? {};
    const now = new Date();
    if (!relayed) tx.onCommit(() => this.signal.send());
    return tx.pipeline(
      `INSERT INTO events (tenant_id, id, type, data, sequence, created_at, relayed_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [tenantId, id, type, JSON.stringify(data), sequence ?? null, now, relayed ? now : null],
    );
  }
}
