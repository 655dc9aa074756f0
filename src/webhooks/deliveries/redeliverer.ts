import { Injectable } from '@nestjs/common';
import { requirePermission } from '../../access/require-permission';
import { AuditService } from '../../audit/audit.service';
import { AppError } from '../../common/app-error';
import { Actor } from '../../access/principal';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { Target, TARGET_DUE } from '../../queue/targets';
import { RedisSignals } from '../../redis/redis-signals';
import { receivesType } from '../endpoints/subscription';
import { WebhookEndpoint } from '../endpoints/webhook-endpoint';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { DELIVERY_QUEUE, targetOf, NewRound } from './delivery';
import { DeliveryHistoryRepository } from './delivery-history.repository';
import { DeliveryRoundsRepository } from './delivery-rounds.repository';

type ListedDelivery = Pick<NewRound, 'id' | 'endpointId' | 'eventId' | 'eventType'> & { status: string };

/** Makes single deliveries due before all others of their endpoint, at a person's request. */
@Injectable()
export class Redeliverer {
  constructor(
    private readonly database: Database,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly rounds: DeliveryRoundsRepository,
    private readonly history: DeliveryHistoryRepository,
    private readonly signals: RedisSignals,
    private readonly audit: AuditService,
  ) {}

  /**
   * Refuses an actor who may not redeliver.
   * @throws AppError FORBIDDEN; INVALID_BODY: the agent is not active in the workspace
   */
  requirePermission(tenantId: string, actor: Actor): Promise<void> {
    return this.database.transaction((tx) =>
      requirePermission(tx, tenantId, actor, 'webhook_delivery.redeliver'),
    );
  }

  /**
   * Makes a delivery due again, in a new round. During the first attempt, only the audit entry is written.
   * @throws AppError FORBIDDEN; NOT_FOUND; INVALID_BODY: the endpoint is inactive, or does not receive the
   *   event type
   */
  async redeliver(tenantId: string, delivery: ListedDelivery, actor: Actor): Promise<void> {
    const { id, endpointId, eventId, eventType } = delivery;
    await this.database.transaction(async (tx) => {
      const { activation } = await this.lockEndpoint(tx, tenantId, delivery, actor);
      const round = await this.findLatestRound(tx, tenantId, id);
      if (round > 0) {
        const next = { tenantId, id, endpointId, activation, eventId, eventType, round: round + 1 };
        await this.rounds.insertFirst(tx, next);
        tx.onCommit(() => this.signal({ tenantId, id: endpointId }));
      }
      this.recordPipelined(tx, tenantId, delivery, 'redelivered', actor);
    });
  }

  /**
   * Makes the next attempt of a pending delivery due now.
   * @throws AppError FORBIDDEN; NOT_FOUND; INVALID_BODY: the delivery is not pending, or the endpoint is
   *   inactive or does not receive the event type
   */
  async retryNow(tenantId: string, delivery: ListedDelivery, actor: Actor): Promise<void> {
    const { id, endpointId, status } = delivery;
    await this.database.transaction(async (tx) => {
      const { activation } = await this.lockEndpoint(tx, tenantId, delivery, actor);
      if (status !== 'PENDING') throw AppError.because('INVALID_BODY', 'delivery_not_pending');
      const changed = await this.rounds.bringForward(tx, tenantId, id, activation);
      if (!changed) return;
      const target = targetOf({ tenantId, id: endpointId }, changed.recovered);
      tx.onCommit(() => this.signal(target));
      this.recordPipelined(tx, tenantId, delivery, 'brought_forward', actor);
    });
  }

  private signal(target: Target): void {
    this.signals.send(TARGET_DUE, target.tenantId, { queue: DELIVERY_QUEUE, target });
  }

  private async lockEndpoint(
    tx: Transaction,
    tenantId: string,
    { endpointId, eventType }: ListedDelivery,
    actor: Actor,
  ): Promise<WebhookEndpoint> {
    await requirePermission(tx, tenantId, actor, 'webhook_delivery.redeliver');
    const endpoint = await this.endpoints.lock(tx, tenantId, endpointId);
    if (!endpoint) throw AppError.notFound('Webhook delivery');
    if (!endpoint.active) throw AppError.because('INVALID_BODY', 'endpoint_inactive');
    if (!receivesType(endpoint, eventType))
      throw AppError.because('INVALID_BODY', 'event_not_taken', { event: eventType });
    return endpoint;
  }

  private recordPipelined(
    tx: Transaction,
    tenantId: string,
    { id, endpointId, eventType }: ListedDelivery,
    action: 'redelivered' | 'brought_forward',
    actor: Actor,
  ): void {
    this.audit.appendPipelined(tx, {
      tenantId,
      actor,
      action: `webhook_delivery.${action}`,
      entity: 'webhook_delivery',
      entityId: id,
      metadata: { endpointId, event: eventType },
    });
  }

  /**
   * Returns the number of a delivery's latest round; 0 while its first attempt is under way. Until the commit
   * no new round begins, because the caller has locked the endpoint, and a pending row is locked here.
   */
  private async findLatestRound(tx: Transaction, tenantId: string, id: string): Promise<number> {
    const pending = await this.rounds.lockRound(tx, tenantId, id);
    if (pending !== null) return pending;
    const [finished] = await this.history.findLatestRounds(tx, tenantId, [id]);
    return finished?.round ?? 0;
  }
}
