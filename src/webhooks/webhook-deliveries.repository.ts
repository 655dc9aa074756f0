import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { Database, Transaction } from '../database/database';
import { WebhookAttemptEntity } from './webhook-attempt.entity';
import { WebhookDeliveryEntity, WebhookDeliveryStatus } from './webhook-delivery.entity';

/** Which rows of a list to read. */
export interface DeliveryFilter {
  status?: WebhookDeliveryStatus;
  cursor?: string;
}

/** A delivery that is owed from now on. */
export type NewDelivery = Pick<
  WebhookDeliveryEntity,
  'tenantId' | 'id' | 'endpointId' | 'eventId' | 'eventType'
>;

/** Deliveries as the dashboard, the consumer and the endpoint service see them. The worker has its own store. */
@Injectable()
export class WebhookDeliveriesRepository {
  constructor(private readonly database: Database) {}

  /** Newest first, from below the cursor. */
  list(
    tenantId: string,
    endpointId: string,
    { status, cursor }: DeliveryFilter,
    count: number,
  ): Promise<WebhookDeliveryEntity[]> {
    const query = this.database.manager
      .createQueryBuilder(WebhookDeliveryEntity, 'delivery')
      .where('delivery.tenantId = :tenantId AND delivery.endpointId = :endpointId', { tenantId, endpointId })
      .orderBy('delivery.id', 'DESC')
      .limit(count);
    if (status) query.andWhere('delivery.status = :status', { status });
    if (cursor) query.andWhere('delivery.id < :cursor', { cursor });
    return query.getMany();
  }

  attemptsOf(tenantId: string, deliveryIds: string[]): Promise<WebhookAttemptEntity[]> {
    return this.database.manager.find(WebhookAttemptEntity, {
      where: { tenantId, deliveryId: In(deliveryIds) },
      order: { id: 'ASC' },
    });
  }

  /** Owes events to endpoints; what is owed already stays as it is. */
  async insertMany(tx: Transaction, deliveries: NewDelivery[], maxAttempts: number): Promise<void> {
    await tx.query(
      `INSERT INTO webhook_deliveries
         (tenant_id, id, endpoint_id, event_id, event_type, status, max_attempts, next_attempt_at, created_at)
       SELECT d.tenant_id, d.id, d.endpoint_id, d.event_id, d.event_type, 'PENDING', $6, now(), now()
       FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[])
         AS d (tenant_id, id, endpoint_id, event_id, event_type)
       ON CONFLICT (tenant_id, event_id, endpoint_id) DO NOTHING`,
      [
        deliveries.map(({ tenantId }) => tenantId),
        deliveries.map(({ id }) => id),
        deliveries.map(({ endpointId }) => endpointId),
        deliveries.map(({ eventId }) => eventId),
        deliveries.map(({ eventType }) => eventType),
        maxAttempts,
      ],
    );
  }

  /** Stops everything that is still owed to an endpoint. May be much: it gets more time than a request has. */
  async cancelPending(tx: Transaction, tenantId: string, endpointId: string): Promise<void> {
    await tx.query(`SET LOCAL statement_timeout = '60s'`);
    await tx.query(
      `UPDATE webhook_deliveries SET status = 'CANCELLED', finished_at = now(), lease_id = NULL, lease_until = NULL
       WHERE tenant_id = $1 AND endpoint_id = $2 AND status = 'PENDING'`,
      [tenantId, endpointId],
    );
  }
}
