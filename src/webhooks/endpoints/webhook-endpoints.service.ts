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
import { EndpointChanges, WebhookEndpointsRepository } from './webhook-endpoints.repository';

/** Why the service deactivated an endpoint: a delivery ended with 410, or all failed for days. */
export type DeactivationReason = 'gone' | 'failing';

type ActivityChanges = EndpointChanges & Pick<WebhookEndpointEntity, 'active'>;
type EndpointAction = 'created' | 'activated' | 'deactivated' | 'deleted';

/** A workspace's webhook endpoints, for the dashboard. */
@Injectable()
export class WebhookEndpointsService {
  constructor(
    private readonly database: Database,
    private readonly endpoints: WebhookEndpointsRepository,
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
    return this.change(tenantId, id, { active: true, failingSince: null }, 'activated', actor);
  }

  /**
   * Deactivates an endpoint and cancels its pending deliveries.
   * @throws AppError NOT_FOUND
   */
  deactivate(tenantId: string, id: string, actor: Actor): Promise<WebhookEndpointSummary> {
    return this.change(tenantId, id, { active: false }, 'deactivated', actor);
  }

  /**
   * Deactivates an endpoint that is gone or failing, unless it is inactive or deleted, or has succeeded since.
   * @returns whether it was deactivated
   * @internal
   */
  deactivateAfterFailures(tenantId: string, id: string, reason: DeactivationReason): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const endpoint = await this.endpoints.lock(tx, tenantId, id);
      if (!endpoint?.active || (reason === 'failing' && !endpoint.failingSince)) return false;
      await this.apply(tx, endpoint, { active: false }, 'deactivated', SYSTEM, { reason });
      return true;
    });
  }

  /**
   * Deletes an endpoint and cancels its pending deliveries. Its secret never signs again.
   * @throws AppError NOT_FOUND
   */
  async delete(tenantId: string, id: string, actor: Actor): Promise<void> {
    await this.change(tenantId, id, { active: false, deletedAt: new Date() }, 'deleted', actor);
  }

  private change(
    tenantId: string,
    id: string,
    changes: ActivityChanges,
    action: EndpointAction,
    actor: Actor,
  ): Promise<WebhookEndpointSummary> {
    return this.database.transaction(async (tx) => {
      const before = await this.endpoints.lock(tx, tenantId, id);
      if (!before) throw AppError.notFound('Webhook endpoint');
      if (before.active === changes.active && !changes.deletedAt) return toEndpointSummary(before);
      return toEndpointSummary(await this.apply(tx, before, changes, action, actor));
    });
  }

  private async apply(
    tx: Transaction,
    before: WebhookEndpointEntity,
    changes: ActivityChanges,
    action: EndpointAction,
    actor: Actor,
    metadata: object = {},
  ): Promise<WebhookEndpointEntity> {
    const { tenantId, id } = before;
    const after = { ...before, ...changes, updatedAt: new Date() };
    await this.endpoints.update(tx, tenantId, id, { ...changes, updatedAt: after.updatedAt });
    if (!after.active) await this.endpoints.cancelPendingDeliveries(tx, tenantId, id);
    await this.record(tx, after, action, actor, metadata);
    return after;
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
