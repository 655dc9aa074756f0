import { Injectable } from '@nestjs/common';
import { requirePermission } from '../../access/require-permission';
import { AuditService } from '../../audit/audit.service';
import { AppError } from '../../common/app-error';
import { Actor } from '../../common/principal';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { RedisSignals } from '../../redis/redis-signals';
import { takesType } from '../endpoints/subscription';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { DeliveryRow } from './delivery-row';
import { DELIVERY_DUE } from '../deliveries/delivery';
import { DeliveryHistoryRepository } from '../deliveries/delivery-history.repository';
import { PendingDeliveriesRepository } from '../deliveries/pending-deliveries.repository';

/** Makes single deliveries due again, before everything else that waits for their endpoint. */
@Injectable()
export class Redeliverer {
  constructor(
    private readonly database: Database,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly pending: PendingDeliveriesRepository,
    private readonly history: DeliveryHistoryRepository,
    private readonly signals: RedisSignals,
    private readonly audit: AuditService,
  ) {}

  /**
   * Refuses an actor who may not redeliver.
   * @throws AppError FORBIDDEN; INVALID_BODY: no active agent of the workspace
   */
  requirePermission(tenantId: string, actor: Actor): Promise<void> {
    return this.database.transaction((tx) =>
      requirePermission(tx, tenantId, actor, 'webhook_delivery.redeliver'),
    );
  }

  /**
   * Makes a delivery due again in a new round.
   * @throws AppError FORBIDDEN; NOT_FOUND; INVALID_BODY: its endpoint is inactive, or does not take its event
   *   type
   */
  async redeliver(tenantId: string, delivery: DeliveryRow, actor: Actor): Promise<void> {
    const { id, endpointId, eventId, eventType } = delivery;
    await this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'webhook_delivery.redeliver');
      const endpoint = await this.endpoints.lock(tx, tenantId, endpointId);
      if (!endpoint) throw AppError.notFound('Webhook delivery');
      if (!endpoint.active) throw AppError.because('INVALID_BODY', 'endpoint_inactive');
      if (!takesType(endpoint, eventType))
        throw AppError.because('INVALID_BODY', 'event_not_taken', { event: eventType });
      const round = await this.findLatestRound(tx, tenantId, id);
      if (round > 0) {
        const { activation } = endpoint;
        const next = { tenantId, id, endpointId, activation, eventId, eventType, round: round + 1 };
        await this.pending.insertFirst(tx, next);
        tx.onCommit(() => this.signals.send(DELIVERY_DUE, tenantId, { tenantId, id: endpointId }));
      }
      this.audit.appendPipelined(tx, {
        tenantId,
        actor,
        action: 'webhook_delivery.redelivered',
        entity: 'webhook_delivery',
        entityId: id,
        metadata: { endpointId, event: eventType },
      });
    });
  }

  /**
   * Returns the latest round of a delivery, or 0 while its first attempt is under way. Under the lock of its
   * endpoint no other round can begin, and a pending one is locked, so that it does not end before the
   * transaction.
   */
  private async findLatestRound(tx: Transaction, tenantId: string, id: string): Promise<number> {
    const pending = await this.pending.lockRound(tx, tenantId, id);
    if (pending !== null) return pending;
    const [finished] = await this.history.findLatestRounds(tx, tenantId, [id]);
    return finished?.round ?? 0;
  }
}
