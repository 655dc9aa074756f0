import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { startByFromNow } from '../../queue/start-capacity';
import { requirePermission } from '../../access/require-permission';
import { AuditService } from '../../audit/audit.service';
import { AppError } from '../../common/app-error';
import { readFault } from '../../common/error-texts';
import { newId } from '../../common/ids';
import { Actor } from '../../access/principal';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { entitlementOf, eventCatalog, EventType } from '../../outbox/event-catalog';
import { OutboxService } from '../../outbox/outbox.service';
import { WorkBudgets } from '../../http/limits/work-budgets';
import { WorkspacesRepository } from '../../workspaces/workspaces.repository';
import { requireEventScopes } from '../endpoints/event-scopes';
import { NO_CONTEXT } from '../context/webhook-context';
import { EndpointSubscription } from '../endpoints/subscription';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { contentOf, Delivery, deliveryIdOf, NOT_ATTEMPTED, TestExample } from '../deliveries/delivery';
import { DeliveryAttempter } from '../deliveries/delivery-attempter';
import { bodyOf } from '../sending/delivery-request';
import { concealHost } from '../sending/host-faults';
import { checkExample } from './example-check';
import { toReadable } from './readable-body';
import { SendExample, WebhookTestResult } from './webhook-delivery.dto';

/** Tests endpoints. */
@Injectable()
export class WebhookTestService {
  constructor(
    private readonly database: Database,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly workspaces: WorkspacesRepository,
    private readonly attempter: DeliveryAttempter,
    private readonly outbox: OutboxService,
    private readonly audit: AuditService,
    private readonly budgets: WorkBudgets,
    private readonly subscription: EndpointSubscription,
  ) {}

  /**
   * Sends a `webhook.test` event to one endpoint, even one that has not subscribed to it, in one attempt of
   * this process. It resolves when the attempt is recorded among the endpoint's deliveries.
   * @throws AppError FORBIDDEN, NOT_FOUND, WORKSPACE_SUSPENDED; RATE_LIMITED, UNAVAILABLE: too many tests at
   *   once
   */
  test(tenantId: string, endpointId: string, actor: Actor): Promise<WebhookTestResult> {
    return this.runTest(tenantId, endpointId, actor);
  }

  /**
   * Sends the example of an event type to one endpoint, as `test` does. The request has
   * `x-service-test: true`, and a `webhook-id` that begins with `test_`. The example may be edited, but all
   * of its ids stay those of the catalog's example.
   * @throws AppError INVALID_BODY: data that is no example of the event; FORBIDDEN, also when the plan does
   *   not include the event; NOT_FOUND, WORKSPACE_SUSPENDED; RATE_LIMITED, UNAVAILABLE: too many tests at
   *   once
   */
  async sendExample(
    tenantId: string,
    endpointId: string,
    input: SendExample,
    actor: Actor,
  ): Promise<WebhookTestResult> {
    const { event, data: given } = validate(SendExample, input);
    const data = given ?? eventCatalog[event].example;
    checkExample(event, data);
    return this.runTest(tenantId, endpointId, actor, { event, data });
  }

  private async runTest(
    tenantId: string,
    endpointId: string,
    actor: Actor,
    example?: TestExample,
  ): Promise<WebhookTestResult> {
    const release = await this.budgets.acquire('tests', tenantId);
    try {
      const delivery = await this.claim(tenantId, endpointId, actor, example);
      this.budgets.releaseSlot();
      return showTo(actor, await this.attempt(delivery));
    } finally {
      release();
    }
  }

  private async attempt(delivery: Delivery): Promise<WebhookTestResult> {
    const { outcome } = await this.attempter.attempt(delivery);
    if (outcome === null) throw AppError.because('UNAVAILABLE', 'test_not_sent');
    return {
      deliveryId: delivery.id,
      status: outcome.statusCode,
      elapsedMs: Math.round(outcome.durationMs),
      error: outcome.errorMessage,
      fault: outcome.errorMessage === null ? null : readFault(outcome.errorMessage),
      phases: outcome.phases,
      response: outcome.response && (await toReadable(outcome.response, outcome.responseHeaders)),
      responseHeaders: outcome.responseHeaders,
    };
  }

  private claim(
    tenantId: string,
    endpointId: string,
    actor: Actor,
    example?: TestExample,
  ): Promise<Delivery> {
    return this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'webhook_endpoint.test');
      const endpoint = await this.endpoints.lock(tx, tenantId, endpointId);
      if (!endpoint) throw AppError.notFound('Webhook endpoint');
      requireEventScopes(actor, endpoint.events);
      if (!(await this.workspaces.lockSending(tx, tenantId))) throw AppError.workspaceSuspended();
      if (example) await this.requireEntitlement(tx, tenantId, example.event);
      const data = { tenantId, test: true as const, ...(example && { example }) };
      const type = 'webhook.test' as const;
      const event = {
        id: newId(),
        tenantId,
        type,
        data: JSON.stringify(data),
        sequence: null,
        createdAt: new Date(),
      };
      this.outbox.appendPipelined(tx, tenantId, type, data, { id: event.id, isQueued: false });
      const secrets = await this.endpoints.readSecrets(tx, tenantId, endpointId);
      const delivery: Delivery = {
        id: deliveryIdOf(event.id, endpointId),
        event,
        endpoint: {
          ...endpoint,
          secrets,
          answersLately: false,
          maySend: true,
          isLocked: true,
          startsAtOnce: true,
        },
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
        metadata: { url: endpoint.url, ...(example && describe(delivery, example)) },
      });
      return delivery;
    });
  }

  private async requireEntitlement(tx: Transaction, tenantId: string, event: EventType): Promise<void> {
    const [allowed] = await this.subscription.filterEntitled(tx, [{ tenantId, type: event }]);
    const entitlement = entitlementOf(event);
    if (!allowed && entitlement)
      throw AppError.because('FORBIDDEN', 'entitlement_missing', { event, entitlement });
  }
}

/** Returns what the audit log says of an example: its event, and the hash of the exact body. */
function describe({ id, event, endpoint }: Delivery, { event: type }: TestExample): object {
  const body = bodyOf(contentOf(id, event, endpoint.context && NO_CONTEXT), event.createdAt);
  return { event: type, bodySha256: hash('sha256', body, 'hex') };
}

/** Returns a result as an actor may see it: a key does not learn what the operator's name servers say. */
function showTo(actor: Actor, result: WebhookTestResult): WebhookTestResult {
  if (actor.type !== 'api_key' || !result.fault) return result;
  const fault = concealHost(result.fault);
  return 'message' in fault ? { ...result, fault, error: fault.message } : result;
}
