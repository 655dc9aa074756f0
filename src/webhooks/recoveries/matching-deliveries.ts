import { Injectable } from '@nestjs/common';
import { Transaction } from '../../database/transaction';
import { isTest } from '../../outbox/event-catalog';
import { DeliveryRow } from '../browsing/delivery-filter';
import { DeliverySearch } from '../browsing/delivery-search';
import { toFinishedFilter } from './webhook-recovery.dto';
import { StoredFilter } from './webhook-recovery.entity';

export interface MatchingRange {
  tenantId: string;
  filter: StoredFilter;
  /** Exclusive, as is the cursor. */
  until: Date;
  cursor: string;
}

export interface MatchingStep {
  matching: DeliveryRow[];
  /** Where the next step begins; null after the last. */
  next: string | null;
}

/** Finds finished deliveries by a filter, newest first. */
@Injectable()
export class MatchingDeliveries {
  constructor(private readonly search: DeliverySearch) {}

  /** Looks at the next `count` deliveries of a range. */
  async step(
    tx: Transaction,
    { tenantId, filter: stored, until, cursor }: MatchingRange,
    count: number,
  ): Promise<MatchingStep> {
    const filter = { ...toFinishedFilter(stored), until, cursor };
    const { rows, next } = await this.search.step(tx, tenantId, filter, count);
    const matching = rows.filter(({ eventType }) => !isTest(eventType) || filter.event === eventType);
    return { matching, next };
  }
}
