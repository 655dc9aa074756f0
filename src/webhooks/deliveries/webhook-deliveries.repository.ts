import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { idFloor, isId } from '../../common/ids';
import { Database } from '../../database/database';
import { Pipelined, Transaction } from '../../database/transaction';
import { LEASE } from './lease';
import { MAX_ATTEMPTS } from './retry-schedule';
import { WebhookAttemptEntity } from './webhook-attempt.entity';
import { DeliveryStatusName } from './webhook-delivery.dto';
import { WebhookDeliveryEntity, WebhookDeliveryStatus } from './webhook-delivery.entity';

export interface DeliveryFilter {
  endpointId?: string;
  event?: string;
  status?: WebhookDeliveryStatus;
  since?: Date;
  until?: Date;
  cursor?: string;
}

export type NewDelivery = Pick<
  WebhookDeliveryEntity,
  'tenantId' | 'id' | 'endpointId' | 'eventId' | 'eventType'
> & {
  /** For a delivery that is inserted as claimed. */
  leaseId?: string | null;
};

/** As if nothing had been attempted: with the whole retry schedule. */
const resetToPending = (dueAt: string) => `
  status = 'PENDING', attempt_count = 0, max_attempts = ${MAX_ATTEMPTS}, next_attempt_at = ${dueAt},
  finished_at = NULL, lease_id = NULL, lease_until = NULL`;

/** Claims and outcomes are in PendingDeliveriesRepository. */
@Injectable()
export class WebhookDeliveriesRepository {
  constructor(private readonly database: Database) {}

  async find(tenantId: string, id: string): Promise<WebhookDeliveryEntity | null> {
    return isId(id) ? this.database.manager.findOneBy(WebhookDeliveryEntity, { tenantId, id }) : null;
  }

  /** Newest first, from below the cursor. */
  list(tenantId: string, filter: DeliveryFilter, count: number): Promise<WebhookDeliveryEntity[]> {
    const { endpointId, event, status, since, until, cursor } = filter;
    const query = this.database.manager
      .createQueryBuilder(WebhookDeliveryEntity, 'delivery')
      .where('delivery.tenantId = :tenantId', { tenantId })
      .orderBy('delivery.id', 'DESC')
      .limit(count);
    if (endpointId) query.andWhere('delivery.endpointId = :endpointId', { endpointId });
    if (event) query.andWhere('delivery.eventType = :event', { event });
    if (status) query.andWhere('delivery.status = :status', { status });
    // Ids are ordered by time, so the list's index serves these too.
    if (since) query.andWhere('delivery.id >= :since', { since: idFloor(since) });
    if (until) query.andWhere('delivery.id < :until', { until: idFloor(until) });
    if (cursor) query.andWhere('delivery.id < :cursor', { cursor });
    return query.getMany();
  }

  /** Without tests: these are no traffic of the endpoint. */
  async countByStatus(
    tenantId: string,
    endpointId: string,
    since: Date,
  ): Promise<Record<DeliveryStatusName, number>> {
    const rows = await this.database.query<{ status: DeliveryStatusName; count: number }>(
      `SELECT lower(status) AS status, count(*)::integer AS count FROM webhook_deliveries
       WHERE tenant_id = $1 AND endpoint_id = $2 AND id >= $3 AND event_type <> 'webhook.test' GROUP BY status`,
      [tenantId, endpointId, idFloor(since)],
    );
    const none = { pending: 0, succeeded: 0, exhausted: 0, cancelled: 0 };
    return rows.reduce((counts, { status, count }) => ({ ...counts, [status]: count }), none);
  }

  attemptsOf(tenantId: string, deliveryIds: string[]): Promise<WebhookAttemptEntity[]> {
    return this.database.manager.find(WebhookAttemptEntity, {
      where: { tenantId, deliveryId: In(deliveryIds) },
      order: { id: 'ASC' },
    });
  }

  attemptsWithResponses(tenantId: string, deliveryId: string): Promise<WebhookAttemptEntity[]> {
    return this.database.manager
      .createQueryBuilder(WebhookAttemptEntity, 'attempt')
      .addSelect('attempt.response')
      .where('attempt.tenantId = :tenantId AND attempt.deliveryId = :deliveryId', { tenantId, deliveryId })
      .orderBy('attempt.id', 'ASC')
      .getMany();
  }

  /** Makes a delivery overdue, so that the next sweep wakes its endpoint. */
  async reset(tx: Transaction, tenantId: string, id: string): Promise<void> {
    await tx.query(
      `UPDATE webhook_deliveries SET ${resetToPending(`now() - interval '2 seconds'`)}
       WHERE tenant_id = $1 AND id = $2`,
      [tenantId, id],
    );
  }

  /**
   * Inserts deliveries. An existing one stays as it is.
   * @returns the inserted ones
   */
  insertManyPipelined(tx: Transaction, deliveries: NewDelivery[]): Pipelined<{ id: string }> {
    return tx.pipeline(insertion('DO NOTHING'), columnsOf(deliveries));
  }

  /**
   * Inserts deliveries, or resets them when they are exhausted or cancelled. Other existing ones stay as they are.
   * @returns how many were inserted or reset
   */
  async insertOrResetMany(tx: Transaction, deliveries: NewDelivery[]): Promise<number> {
    const reset = `DO UPDATE SET ${resetToPending('now()')} WHERE d.status IN ('EXHAUSTED', 'CANCELLED')`;
    return (await tx.prepared(insertion(reset), columnsOf(deliveries))).length;
  }
}

function insertion(onConflict: string): string {
  return `
    INSERT INTO webhook_deliveries AS d
      (tenant_id, id, endpoint_id, event_id, event_type, status, max_attempts, next_attempt_at, created_at,
       lease_id, lease_until)
    SELECT n.tenant_id, n.id, n.endpoint_id, n.event_id, n.event_type, 'PENDING', ${MAX_ATTEMPTS}, now(), now(),
           n.lease_id, CASE WHEN n.lease_id IS NOT NULL THEN clock_timestamp() + ${LEASE} END
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::uuid[])
      AS n (tenant_id, id, endpoint_id, event_id, event_type, lease_id)
    ON CONFLICT (tenant_id, event_id, endpoint_id) ${onConflict}
    RETURNING id`;
}

function columnsOf(deliveries: NewDelivery[]): unknown[] {
  return [
    deliveries.map(({ tenantId }) => tenantId),
    deliveries.map(({ id }) => id),
    deliveries.map(({ endpointId }) => endpointId),
    deliveries.map(({ eventId }) => eventId),
    deliveries.map(({ eventType }) => eventType),
    deliveries.map(({ leaseId }) => leaseId ?? null),
  ];
}
