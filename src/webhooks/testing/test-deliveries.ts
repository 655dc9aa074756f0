import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Actor } from '../../access/principal';
import { requirePermission } from '../../access/require-permission';
import { AuditService } from '../../audit/audit.service';
import { AppError } from '../../common/app-error';
import { newId } from '../../common/ids';
import { Transaction } from '../../database/transaction';
import { entitlementOf, EventType } from '../../outbox/event-catalog';
import { OutboxService } from '../../outbox/outbox.service';
import { startByFromNow } from '../../queue/start-capacity';
import { WorkspacesRepository } from '../../workspaces/workspaces.repository';
import { NO_CONTEXT } from '../context/webhook-context';
import { contentOf, Delivery, deliveryIdOf, NOT_ATTEMPTED, TestExample } from '../deliveries/delivery';
import { requireEventScopes } from '../endpoints/event-scopes';
import { EndpointSubscription } from '../endpoints/subscription';
import { SubscribersRepository } from '../endpoints/subscribers.repository';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { bodyOf } from '../sending/delivery-request';

/** Makes the deliveries of tests, each with its event and its audit entry. */
@Injectable()
export class TestDeliveries {
  constructor(
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly subscribers: SubscribersRepository,
    private readonly workspaces: WorkspacesRepository,
    private readonly subscription: EndpointSubscription,
    private readonly outbox: OutboxService,
    private readonly audit: AuditService,
  ) {}

  /**
   * Makes the delivery of a test. The caller attempts it after the commit.
   * @throws AppError FORBIDDEN, NOT_FOUND, WORKSPACE_SUSPENDED
   */
  async make(
    tx: Transaction,
    { tenantId, id: endpointId }: { tenantId: string; id: string },
    actor: Actor,
    example?: TestExample,
  ): Promise<Delivery> {
    await requirePermission(tx, tenantId, actor, 'webhook_endpoint.test');
    const endpoint = await this.endpoints.lock(tx, tenantId, endpointId);
    if (!endpoint) throw AppError.notFound('Webhook endpoint');
    requireEventScopes(actor, endpoint.events);
    if (!(await this.workspaces.lockSending(tx, tenantId))) throw AppError.workspaceSuspended();
    if (example) await this.requireEntitlement(tx, tenantId, example.event);
    const data = { tenantId, test: true as const, ...(example && { example }) };
    const type = 'webhook.test' as const;
    const id = newId();
    const createdAt = new Date();
    const event = { id, tenantId, type, data: JSON.stringify(data), sequence: null, createdAt };
    this.outbox.appendPipelined(tx, tenantId, type, data, { id, isQueued: false });
    const secrets = await this.subscribers.readSecrets(tx, tenantId, endpointId);
    const free = { answersLately: false, maySend: true, isLocked: true, startsAtOnce: true };
    const delivery: Delivery = {
      id: deliveryIdOf(id, endpointId),
      event,
      endpoint: { ...endpoint, secrets, ...free },
      lease: null,
      ...NOT_ATTEMPTED,
      startBy: startByFromNow(),
    };
    this.audit.appendPipelined(tx, {
      tenantId,
      actor,
      action: 'webhook_endpoint.tested',
      entity: 'webhook_endpoint',
      entityId: endpointId,
      metadata: { url: endpoint.url, ...(example && describeExample(delivery, example)) },
    });
    return delivery;
  }

  private async requireEntitlement(tx: Transaction, tenantId: string, event: EventType): Promise<void> {
    const [allowed] = await this.subscription.filterEntitled(tx, [{ tenantId, type: event }]);
    const entitlement = entitlementOf(event);
    if (!allowed && entitlement)
      throw AppError.because('FORBIDDEN', 'entitlement_missing', { event, entitlement });
  }
}

/** Returns the audit entry's values for an example: its event type, and the hash of the exact body. */
function describeExample({ id, event, endpoint }: Delivery, { event: type }: TestExample): object {
  const body = bodyOf(contentOf(id, event, endpoint.context && NO_CONTEXT), event.createdAt);
  return { event: type, bodySha256: hash('sha256', body, 'hex') };
}
