import { Injectable } from '@nestjs/common';
import { requirePermission, requireReadPermission, requireWorkingKey } from '../../access/require-permission';
import { AuditRecord, AuditService } from '../../audit/audit.service';
import { changedValues, describeText, valuesOf } from '../../audit/changed-values';
import { maskSecrets } from '../../audit/masked-urls';
import { AppError } from '../../common/app-error';
import { HIGHEST_ID } from '../../common/ids';
import { Page, PageQuery, toPage } from '../../common/page';
import { Actor, hasScope, idOf, SYSTEM } from '../../access/principal';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import { Pipelined, Transaction } from '../../database/transaction';
import { IdempotencyService } from '../../idempotency/idempotency.service';
import { IdempotentRequest } from '../../idempotency/idempotent-request';
import { WorkspaceEntity } from '../../workspaces/workspace.entity';
import { WorkspacesRepository } from '../../workspaces/workspaces.repository';
import { partsFor, requireContextScopes } from '../context/context-parts';
import { EndpointRegistration } from './endpoint-registration';
import { requireEventScopes } from './event-scopes';
import {
  CheckUrl,
  CreatedWebhookEndpoint,
  CreateWebhookEndpoint,
  DEFAULT_GRACE_PERIOD_SECONDS,
  RegisteredWebhookEndpoint,
  RollSecret,
  toEndpointSummary,
  UpdateWebhookEndpoint,
  WebhookEndpointSummary,
} from './webhook-endpoint.dto';
import { DeactivationReason, WebhookEndpointEntity } from './webhook-endpoint.entity';
import { PendingCancellationsRepository } from './pending-cancellations.repository';
import { receivesFewerTypes } from './subscription';
import { EndpointSettings, WebhookEndpointsRepository } from './webhook-endpoints.repository';

/** Time without a success after which a failing endpoint is deactivated. */
export const DEACTIVATE_AFTER_MS = 5 * 24 * 60 * 60 * 1000;

/** Permission, audit action and resulting state of each change of an endpoint. */
const CHANGES = {
  activate: { action: 'activated', active: true },
  deactivate: { action: 'deactivated', active: false },
  delete: { action: 'deleted', active: false },
} as const;
type Change = keyof typeof CHANGES;

type Action =
  | 'created'
  | 'updated'
  | (typeof CHANGES)[Change]['action']
  | 'secret_rolled'
  | 'previous_secret_ended';

/** Settings that an edit can change. */
const SETTINGS = ['url', 'events', 'context', 'rateLimit', 'name', 'description'] as const;
const AUDITED = [...SETTINGS, 'active'] as const;

/** Manages a workspace's webhook endpoints. */
@Injectable()
export class WebhookEndpointsService {
  constructor(
    private readonly database: Database,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly workspaces: WorkspacesRepository,
    private readonly cancellations: PendingCancellationsRepository,
    private readonly registration: EndpointRegistration,
    private readonly audit: AuditService,
    private readonly idempotency: IdempotencyService,
  ) {}

  /**
   * Registers an active endpoint. Only this result holds its secret: a repeated request gets the endpoint as
   * it was registered, without it.
   * @throws AppError INVALID_BODY: a refused URL, an unknown event, a 51st endpoint; FORBIDDEN, also for a
   *   key that may not read the events; NOT_FOUND (workspace); IDEMPOTENCY_CONFLICT
   */
  create(tenantId: string, input: CreateWebhookEndpoint, actor: Actor): Promise<CreatedWebhookEndpoint>;
  create(
    tenantId: string,
    input: CreateWebhookEndpoint,
    actor: Actor,
    request: IdempotentRequest | null,
  ): Promise<RegisteredWebhookEndpoint>;
  async create(
    tenantId: string,
    input: CreateWebhookEndpoint,
    actor: Actor,
    request: IdempotentRequest | null = null,
  ): Promise<RegisteredWebhookEndpoint> {
    const checked = validate(CreateWebhookEndpoint, input);
    requireEventScopes(actor, checked.events);
    // A repeated request needs no name server, and nobody but who may create one learns what it says.
    const first = await this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'webhook_endpoint.create');
      return this.idempotency.findFirst<WebhookEndpointSummary>(tx, tenantId, request);
    });
    if (first) return { ...first, secret: null };
    const context = checked.context ? partsFor(actor) : null;
    const { endpoint, secret } = await this.registration.makeEndpoint(tenantId, checked, context, actor);
    const summary = await this.database.transaction(async (tx) => {
      const workspace = await this.workspaces.lock(tx, tenantId);
      await requirePermission(tx, tenantId, actor, 'webhook_endpoint.create');
      await requireWorkingKey(tx, tenantId, actor);
      if (!workspace) throw AppError.notFound('Workspace');
      return this.idempotency.once(tx, { tenantId, conversationId: null }, request, async () => {
        await this.registration.insert(tx, endpoint);
        const after = valuesOf(audited(endpoint), AUDITED);
        this.recordPipelined(tx, endpoint, 'created', actor, { after });
        return toEndpointSummary(endpoint);
      });
    });
    return { ...summary, secret: summary.id === endpoint.id ? secret : null };
  }

  /**
   * Checks a URL as `create` does, without a request to it. The lookup of its host name may take 5 seconds:
   * limit how often a person may ask.
   * @returns the URL as it would be stored
   * @throws AppError INVALID_BODY: a refused URL, with the reason; FORBIDDEN: the actor may create no
   *   endpoint; RATE_LIMITED, UNAVAILABLE: too many look-ups at once
   */
  async checkUrl(tenantId: string, input: string, actor: Actor): Promise<{ url: string }> {
    const { url } = validate(CheckUrl, { url: input });
    // The reason tells what the operator's name servers say.
    await this.database.transaction((tx) =>
      requirePermission(tx, tenantId, actor, 'webhook_endpoint.create'),
    );
    return { url: await this.registration.checkUrl(tenantId, url, actor) };
  }

  /**
   * Lists the endpoints of a workspace, newest first.
   * @throws AppError FORBIDDEN
   */
  async list(tenantId: string, actor: Actor): Promise<WebhookEndpointSummary[]> {
    await requireReadPermission(this.database, tenantId, actor, 'webhook_endpoint.read');
    return (await this.endpoints.list(tenantId)).map((endpoint) =>
      showTo(actor, toEndpointSummary(endpoint)),
    );
  }

  /**
   * Returns a page of the endpoints of a workspace, newest first: 50 by default, 200 at most.
   * @throws AppError INVALID_QUERY, FORBIDDEN
   */
  async listPage(
    tenantId: string,
    input: Partial<PageQuery>,
    actor: Actor,
  ): Promise<Page<WebhookEndpointSummary>> {
    const { cursor = HIGHEST_ID, limit } = validate(PageQuery, input, 'INVALID_QUERY');
    const below = (await this.list(tenantId, actor)).filter(({ id }) => id < cursor);
    return toPage(below, limit, (endpoint) => endpoint);
  }

  /**
   * Returns an endpoint.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async get(tenantId: string, id: string, actor: Actor): Promise<WebhookEndpointSummary> {
    await requireReadPermission(this.database, tenantId, actor, 'webhook_endpoint.read');
    const endpoint = await this.endpoints.find(tenantId, id);
    if (!endpoint) throw AppError.notFound('Webhook endpoint');
    return showTo(actor, toEndpointSummary(endpoint));
  }

  /**
   * Edits an endpoint, and activates or deactivates it.
   *
   * No attempt at the old address, and none for an event type that was taken out, begins more than a second
   * after the answer. What the endpoint is owed goes to the new address, with the attempts that are left.
   * Deliveries of a type that was taken out are read as cancelled from now on, and a worker cancels them in
   * the background. An active endpoint that stays active misses no event, and its secret stays. A new address
   * begins without failures. With `context: true` the context has what the actor may read, also where it was
   * on with less. Nothing changes if the values are those of the endpoint. The lookup of an address's host
   * name may take 5 seconds.
   * @throws AppError INVALID_BODY: no field, a refused URL, an unknown event; CONFLICT: the endpoint was
   *   edited since `version`; FORBIDDEN, also for a key that may not read the events, before or after, or the
   *   context; NOT_FOUND; RATE_LIMITED, UNAVAILABLE: too many look-ups at once
   */
  async update(
    tenantId: string,
    id: string,
    input: UpdateWebhookEndpoint,
    actor: Actor,
  ): Promise<WebhookEndpointSummary> {
    const { version, active, context, ...given } = validate(UpdateWebhookEndpoint, input);
    if ([active, context, ...Object.values(given)].every((value) => value === undefined))
      throw new AppError('INVALID_BODY', `Name at least one of ${AUDITED.join(', ')}.`);
    await this.database.transaction((tx) =>
      requirePermission(tx, tenantId, actor, 'webhook_endpoint.update'),
    );
    const present = await this.endpoints.find(tenantId, id);
    if (!present) throw AppError.notFound('Webhook endpoint');
    requireEventScopes(actor, [...present.events, ...(given.events ?? [])]);
    const settings = Object.fromEntries(
      Object.entries(given).filter(([, value]) => value !== undefined),
    ) as Partial<EndpointSettings>;
    if (settings.url !== undefined && settings.url !== present.url)
      settings.url = await this.registration.checkUrl(tenantId, settings.url, actor);
    return this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'webhook_endpoint.update');
      const before = await this.lock(tx, tenantId, id, actor);
      // No part goes: only an actor who may read all that the context has gets here.
      if (context !== undefined) settings.context = context ? partsFor(actor) : null;
      const after = await this.edit(tx, before, { settings, version }, actor);
      if (active === undefined || active === before.active) return toEndpointSummary(after);
      const change = active ? 'activate' : 'deactivate';
      await requirePermission(tx, tenantId, actor, `webhook_endpoint.${change}`);
      return toEndpointSummary(await this.apply(tx, after, change, actor));
    });
  }

  /**
   * Activates an endpoint, for events that happen from now on.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  activate(tenantId: string, id: string, actor: Actor): Promise<WebhookEndpointSummary> {
    return this.change(tenantId, id, 'activate', actor);
  }

  /**
   * Deactivates an endpoint. No attempt begins more than a second after the answer. Its pending deliveries
   * are read as cancelled from now on, and a worker cancels them in the background.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  deactivate(tenantId: string, id: string, actor: Actor): Promise<WebhookEndpointSummary> {
    return this.change(tenantId, id, 'deactivate', actor);
  }

  /**
   * Deactivates an endpoint that is gone or failing, unless it is inactive or deleted, or has succeeded
   * since, or has another address by now. A suspension of the workspace is not the endpoint's fault:
   * afterwards the five days begin again.
   * @returns whether it was deactivated
   * @internal
   */
  deactivateAfterFailures(
    { tenantId, id, url }: Pick<WebhookEndpointEntity, 'tenantId' | 'id' | 'url'>,
    reason: DeactivationReason,
  ): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const endpoint = await this.endpoints.lock(tx, tenantId, id);
      if (!endpoint?.active || endpoint.url !== url) return false;
      if (reason === 'failing' && !isFailingForDays(endpoint, await this.workspaces.find(tenantId, tx)))
        return false;
      await this.apply(tx, endpoint, 'deactivate', SYSTEM, { reason });
      return true;
    });
  }

  /**
   * Deactivates an endpoint that the transaction has locked, because the key that made it, or set its URL
   * last, is revoked as leaked.
   * @internal
   */
  async deactivateOfKey(
    tx: Transaction,
    endpoint: WebhookEndpointEntity,
    apiKeyId: string,
    actor: Actor,
  ): Promise<void> {
    await this.apply(tx, endpoint, 'deactivate', actor, { metadata: { apiKeyId } });
  }

  /**
   * Deletes an endpoint. No attempt begins more than a second after the answer. A worker cancels its pending
   * deliveries in the background.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async delete(tenantId: string, id: string, actor: Actor): Promise<void> {
    await this.change(tenantId, id, 'delete', actor);
  }

  /**
   * Gives an endpoint a new secret. Only this result holds it. During the grace period the previous secret
   * signs too: `webhook-signature` has both signatures, and `x-service-signature` is made with the secret
   * that `serviceSignature` names. The period ends by the database's clock, without a call. Each claim reads
   * it, so an attempt that was claimed before the end may be signed with the previous secret for up to a
   * second more.
   * @throws AppError INVALID_BODY, also when the previous secret of an earlier roll still signs, unless
   *   `gracePeriodSeconds` is 0: that ends it too; FORBIDDEN; NOT_FOUND
   */
  async rollSecret(
    tenantId: string,
    id: string,
    input: RollSecret,
    actor: Actor,
  ): Promise<CreatedWebhookEndpoint> {
    const { gracePeriodSeconds = DEFAULT_GRACE_PERIOD_SECONDS, serviceSignature = 'previous' } = validate(
      RollSecret,
      input,
    );
    return this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'webhook_endpoint.roll_secret');
      const before = await this.lock(tx, tenantId, id, actor);
      const { secret, sealed } = this.registration.makeSecret(id);
      if (gracePeriodSeconds === 0) await this.endpoints.replaceSecret(tx, tenantId, id, sealed, actor);
      else {
        requireNoPreviousSecret(before);
        const signsService = serviceSignature === 'previous';
        await this.endpoints.rollSecret(
          tx,
          tenantId,
          id,
          sealed,
          { gracePeriodSeconds, signsService },
          actor,
        );
      }
      const signing = gracePeriodSeconds > 0 ? { serviceSignature } : {};
      return { ...(await this.recordRoll(tx, before, 'secret_rolled', actor, signing)), secret };
    });
  }

  /**
   * Ends the secret before the last roll at once, so that only the present one signs. An attempt that was
   * claimed before may be signed with it for up to a second more. Without a previous secret nothing changes.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  endPreviousSecret(tenantId: string, id: string, actor: Actor): Promise<WebhookEndpointSummary> {
    return this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'webhook_endpoint.roll_secret');
      const before = await this.lock(tx, tenantId, id, actor);
      if (toEndpointSummary(before).previousSecretEndsAt === null) return toEndpointSummary(before);
      await this.endpoints.endPreviousSecret(tx, tenantId, id);
      return this.recordRoll(tx, before, 'previous_secret_ended', actor);
    });
  }

  /**
   * Locks an endpoint that the actor changes.
   * @throws AppError NOT_FOUND; FORBIDDEN: a key that may not read the endpoint's events or context;
   *   UNAUTHENTICATED: a key that was revoked meanwhile
   */
  private async lock(
    tx: Transaction,
    tenantId: string,
    id: string,
    actor: Actor,
  ): Promise<WebhookEndpointEntity> {
    await requireWorkingKey(tx, tenantId, actor);
    const endpoint = await this.endpoints.lock(tx, tenantId, id);
    if (!endpoint) throw AppError.notFound('Webhook endpoint');
    requireEventScopes(actor, endpoint.events);
    requireContextScopes(actor, endpoint.context);
    return endpoint;
  }

  /** Edits the settings of a locked endpoint, and returns it as it is then. */
  private async edit(
    tx: Transaction,
    before: WebhookEndpointEntity,
    { settings, version }: { settings: Partial<EndpointSettings>; version?: number },
    actor: Actor,
  ): Promise<WebhookEndpointEntity> {
    const { tenantId, id, url, activation } = before;
    const after = { ...before, ...settings };
    const changed = changedValues(audited(before), audited(after), SETTINGS);
    if (!changed) return before;
    if (version !== undefined && before.version !== version)
      throw AppError.because('CONFLICT', 'endpoint_edited');
    const setter = { urlSetByType: actor.type, urlSetById: idOf(actor) };
    await this.endpoints.update(tx, before, settings, setter);
    if (before.active && receivesFewerTypes(after, before))
      await this.cancellations.insert(tx, tenantId, id, activation);
    this.recordPipelined(tx, before, 'updated', actor, { ...changed, metadata: { url } });
    return this.endpoints.reload(tx, tenantId, id);
  }

  private change(
    tenantId: string,
    id: string,
    change: Change,
    actor: Actor,
  ): Promise<WebhookEndpointSummary> {
    return this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, `webhook_endpoint.${change}`);
      const before = await this.lock(tx, tenantId, id, actor);
      if (before.active === CHANGES[change].active && change !== 'delete') return toEndpointSummary(before);
      return toEndpointSummary(await this.apply(tx, before, change, actor));
    });
  }

  private async apply(
    tx: Transaction,
    before: WebhookEndpointEntity,
    change: Change,
    actor: Actor,
    { reason = null, metadata = {} }: { reason?: DeactivationReason | null; metadata?: object } = {},
  ): Promise<WebhookEndpointEntity> {
    const { tenantId, id, url } = before;
    const { action, active } = CHANGES[change];
    if (active) await this.endpoints.activate(tx, tenantId, id);
    else {
      await this.endpoints.deactivate(tx, tenantId, id, { isDeleted: change === 'delete', reason });
      await this.cancellations.insert(tx, tenantId, id, before.activation);
    }
    const after = { ...before, active };
    const changed =
      change === 'delete'
        ? { before: valuesOf(audited(before), AUDITED) }
        : changedValues(before, after, ['active']);
    this.recordPipelined(tx, before, action, actor, {
      ...changed,
      metadata: { url, ...(reason && { reason }), ...metadata },
    });
    return this.endpoints.reload(tx, tenantId, id);
  }

  private async recordRoll(
    tx: Transaction,
    endpoint: WebhookEndpointEntity,
    action: Action,
    actor: Actor,
    metadata: object = {},
  ): Promise<WebhookEndpointSummary> {
    const { tenantId, id, url } = endpoint;
    const before = toEndpointSummary(endpoint);
    const after = toEndpointSummary(await this.endpoints.reload(tx, tenantId, id));
    const changed = changedValues(before, after, ['previousSecretEndsAt']);
    this.recordPipelined(tx, endpoint, action, actor, { ...changed, metadata: { url, ...metadata } });
    return after;
  }

  private recordPipelined(
    tx: Transaction,
    { tenantId, id }: WebhookEndpointEntity,
    action: Action,
    actor: Actor,
    what: Pick<AuditRecord, 'before' | 'after' | 'metadata'>,
  ): Pipelined {
    const subject = { tenantId, actor, entity: 'webhook_endpoint', entityId: id };
    return this.audit.appendPipelined(tx, { ...subject, action: `webhook_endpoint.${action}`, ...what });
  }
}

/** Returns what the audit log may keep of an endpoint. */
function audited(endpoint: WebhookEndpointEntity) {
  const { description } = endpoint;
  return { ...endpoint, description: description === null ? null : describeText(description) };
}

/** Returns an endpoint as an actor may see it: a key that may not write sees nothing secret in its URL. */
function showTo(actor: Actor, endpoint: WebhookEndpointSummary): WebhookEndpointSummary {
  if (hasScope(actor, ['webhooks:write'])) return endpoint;
  return { ...endpoint, url: maskSecrets(endpoint.url) };
}

/**
 * Refuses a further secret while two secrets sign.
 * @throws AppError INVALID_BODY: a third secret would end one of the two without being asked to
 */
function requireNoPreviousSecret(endpoint: WebhookEndpointEntity): void {
  const { previousSecretEndsAt } = toEndpointSummary(endpoint);
  if (previousSecretEndsAt === null) return;
  const until = previousSecretEndsAt.toISOString();
  throw AppError.because('INVALID_BODY', 'previous_secret_signs', { until });
}

function isFailingForDays(
  { failingSince }: WebhookEndpointEntity,
  workspace: WorkspaceEntity | null,
): boolean {
  if (failingSince === null) return false;
  const since = Math.max(failingSince.getTime(), workspace?.resumedAt?.getTime() ?? 0);
  return Date.now() - since > DEACTIVATE_AFTER_MS;
}
