import { Injectable } from '@nestjs/common';
import { Reader } from '../../database/database';
import { DeliveryHistoryRepository } from './delivery-history.repository';
import { PendingDeliveriesRepository } from './pending-deliveries.repository';

/**
 * Tells which deliveries have a row, pending or finished. The first attempt of such a delivery has been made.
 */
@Injectable()
export class RecordedDeliveries {
  constructor(
    private readonly pending: PendingDeliveriesRepository,
    private readonly history: DeliveryHistoryRepository,
  ) {}

  /** Returns those of the delivery ids that have a row, among pending deliveries or in the history. */
  async filterRecorded(reader: Reader, tenantId: string, ids: string[]): Promise<Set<string>> {
    // Both are read in the order in which a delivery moves, so that none is missed between them.
    const pending = await this.pending.findRounds(reader, tenantId, ids);
    const finished = await this.history.findLatestRounds(reader, tenantId, ids);
    return new Set([...pending, ...finished].map(({ id }) => id));
  }
}
