import { Injectable } from '@nestjs/common';
import { AuditService } from '../../audit/audit.service';
import { AppError } from '../../common/app-error';
import { Actor, SYSTEM } from '../../common/principal';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { EndpointRegistration } from './endpoint-registration';
import {
  CreatedWebhookEndpoint,
  CreateWebhookEndpoint,
  toEndpointSummary,
  WebhookEndpointSummary,
} from './webhook-endpoint.dto';
import { WebhookEndpointEntity } from './webhook-endpoint.entity';
import { PendingCancellationsRepository } from './pending-cancellations.repository';
import { WebhookEndpointsRepository } from './webhook-endpoints.repository';

/** Why the service deactivated an endpoint: a delivery ended with 410, or all failed for days. */
export type DeactivationReason = 'gone' | 'failing';

/** Without a success. */
export const DEACTIVATE_AFTER_MS = 5 * 24 * 60 * 60 * 1000;

type EndpointAction = 'created' | 'activated' | 'deactivated' | 'deleted';

/** A workspace's webhook endpoints, for the dashboard. */
@Injectable()
export class WebhookEndpointsService {
  constructor(
    private readonly database: Database,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly cancellations: PendingCancellationsRepository,
    private readonly registration: EndpointRegistration,
    private readonly audit: AuditService,
  ) {}

  /**
   * Registers an active endpoint. Only this result contains its secret.
   * @throws AppError INVALID_BODY: a refused URL, an unknown event, a 51st endpoint; NOT_FOUND (workspace)
   */
  async create(
    tenantId: string,
    input: CreateWebhookEndpoint,
    actor: Actor,
  ): Promise<CreatedWebhookEndpoint> {
    const checked = validate(CreateWebhookEndpoint, input);
    const { endpoint, secret } = await this.registration.prepare(tenantId, checked);
    await this.database.transaction(async (tx) => {
      await this.registration.insert(tx, endpoint);
      await this.record(tx, endpoint, 'created', actor);
    });
    return { ...toEndpointSummary(endpoint), secret };
  }

  /** Lists the endpoints of a workspace, newest first. */
  async list(tenantId: string): Promise<WebhookEndpointSummary[]> {
    return (await this.endpoints.list(tenantId)).map(toEndpointSummary);
  }

  /** @throws AppError NOT_FOUND */
  async get(tenantId: string, id: string): Promise<WebhookEndpointSummary> {
    const endpoint = await this.endpoints.find(tenantId, id);
    if (!endpoint) throw AppError.notFound('Webhook endpoint');
    return toEndpointSummary(endpoint);
  }

  /**
   * Activates an endpoint, for events that happen from now on.
   * @throws AppError NOT_FOUND
   */
  activate(tenantId: string, id: string, actor: Actor): Promise<WebhookEndpointSummary> {
    return this.change(tenantId, id, true, 'activated', actor);
  }

  /**
   * Deactivates an endpoint, whatever it is owed: no attempt begins after the answer. Its pending deliveries read as
   * cancelled from now on, and a worker cancels them in the background.
   * @throws AppError NOT_FOUND
   */
  deactivate(tenantId: string, id: string, actor: Actor): Promise<WebhookEndpointSummary> {
    return this.change(tenantId, id, false, 'deactivated', actor);
  }

  /**
   * Deactivates an endpoint that is gone or failing, unless it is inactive or deleted, or has succeeded since.
   * @returns whether it was deactivated
   * @internal
   */
  deactivateAfterFailures(tenantId: string, id: string, reason: DeactivationReason): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const endpoint = await this.endpoints.lock(tx, tenantId, id);
      if (!endpoint?.active || (reason === 'failing' && !isFailingForDays(endpoint))) return false;
      await this.apply(tx, endpoint, false, 'deactivated', SYSTEM, { reason });
      return true;
    });
  }

  /**
   * Deletes an endpoint. No attempt begins after the answer; its secret never signs again. A worker cancels its pending
   * deliveries in the background.
   * @throws AppError NOT_FOUND
   */
  async delete(tenantId: string, id: string, actor: Actor): Promise<void> {
    await this.change(tenantId, id, false, 'deleted', actor);
  }

  private change(
    tenantId: string,
    id: string,
    active: boolean,
    action: EndpointAction,
    actor: Actor,
  ): Promise<WebhookEndpointSummary> {
    return this.database.transaction(async (tx) => {
      const before = await this.endpoints.lock(tx, tenantId, id);
      if (!before) throw AppError.notFound('Webhook endpoint');
      if (before.active === active && action !== 'deleted') return toEndpointSummary(before);
      return toEndpointSummary(await this.apply(tx, before, active, action, actor));
    });
  }

  private async apply(
    tx: Transaction,
    endpoint: WebhookEndpointEntity,
    active: boolean,
    action: EndpointAction,
    actor: Actor,
    metadata: object = {},
  ): Promise<WebhookEndpointEntity> {
    const { tenantId, id } = endpoint;
    if (active) await this.endpoints.activate(tx, tenantId, id);
    else {
      await this.endpoints.deactivate(tx, tenantId, id, action === 'deleted');
      await this.cancellations.insert(tx, tenantId, id, endpoint.activation);
    }
    await this.record(tx, endpoint, action, actor, metadata);
    return this.endpoints.reload(tx, tenantId, id);
  }

  private async record(
    tx: Transaction,
    { tenantId, id, url }: WebhookEndpointEntity,
    action: EndpointAction,
    actor: Actor,
    metadata: object = {},
  ): Promise<void> {
    await this.audit.append(tx, {
      tenantId,
      actor,
      action: `webhook_endpoint.${action}`,
      entity: 'webhook_endpoint',
      entityId: id,
      metadata: { url, ...metadata },
    });
  }
}

function isFailingForDays({ failingSince }: WebhookEndpointEntity): boolean {
  return failingSince !== null && Date.now() - failingSince.getTime() > DEACTIVATE_AFTER_MS;
}
