import { Injectable } from '@nestjs/common';
import { requirePermission, requireReadPermission, requireWorkingKey } from '../../access/require-permission';
import { AppError } from '../../common/app-error';
import { HIGHEST_ID } from '../../common/ids';
import { changedValues } from '../../audit/changed-values';
import { Page, PageQuery, toPage } from '../../common/page';
import { Actor } from '../../access/principal';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { IdempotencyService } from '../../idempotency/idempotency.service';
import { IdempotentRequest } from '../../idempotency/idempotent-request';
import { RunningClaims } from '../../queue/claims/running-claims';
import { WorkspacesRepository } from '../../workspaces/workspaces.repository';
import { partsFor } from '../context/context-parts';
import { AUDITED, Change, EditedSettings, EndpointChanges } from './endpoint-changes';
import { EndpointRegistration } from './endpoint-registration';
import { requireEventScopes } from './event-scopes';
import {
  CreatedWebhookEndpoint,
  RegisteredWebhookEndpoint,
  toEndpointSummary,
  toSummaryFor,
  WebhookEndpointSummary,
} from './webhook-endpoint.dto';
import {
  CheckUrl,
  CreateWebhookEndpoint,
  DEFAULT_GRACE_PERIOD_SECONDS,
  RollSecret,
  UpdateWebhookEndpoint,
} from './webhook-endpoint-input.dto';
import { WebhookEndpoint } from './webhook-endpoint';
import { WebhookEndpointsRepository } from './webhook-endpoints.repository';

/** Values by which a claimed delivery is sent. After a change of one, no attempt begins by the old value. */
const USED_BY_ATTEMPTS = ['url', 'events', 'context'] as const;

@Injectable()
export class WebhookEndpointsService {
  constructor(
    private readonly database: Database,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly workspaces: WorkspacesRepository,
    private readonly registration: EndpointRegistration,
    private readonly changes: EndpointChanges,
    private readonly idempotency: IdempotencyService,
    private readonly claims: RunningClaims,
  ) {}

  /**
   * Registers an active endpoint. Only this result contains its secret. A repeated request (the same
   * idempotency key) returns the endpoint as it was registered, with `secret` null.
   * @throws AppError INVALID_BODY: a refused URL, an unknown event type, a 51st endpoint; FORBIDDEN, also for
   *   a key that may not read the events; NOT_FOUND (workspace); IDEMPOTENCY_CONFLICT
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
    // A repeated request is answered here, so that it causes no DNS lookup.
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
        return toEndpointSummary(await this.registration.insert(tx, endpoint));
      });
    });
    return { ...summary, secret: summary.id === endpoint.id ? secret : null };
  }

  /**
   * Checks a URL as `create` does, without a request to it. The DNS lookup may take 5 seconds, so limit how
   * often a person may call it.
   * @returns the URL as it would be stored
   * @throws AppError INVALID_BODY: a refused URL, with the reason; FORBIDDEN: the actor may create no
   *   endpoint; RATE_LIMITED, UNAVAILABLE: too many look-ups at once
   */
  async checkUrl(tenantId: string, input: string, actor: Actor): Promise<{ url: string }> {
    const { url } = validate(CheckUrl, { url: input });
    // Requires the permission, because a refusal reveals answers of the operator's name servers.
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
    const endpoints = await this.endpoints.list(tenantId);
    return endpoints.map((endpoint) => toSummaryFor(actor, endpoint));
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
    return toSummaryFor(actor, await this.endpoints.get(tenantId, id));
  }

  /**
   * Edits an endpoint, and activates or deactivates it. The endpoint misses no event if it stays active. No
   * attempt at the old URL or for a removed event type begins after the answer. Pending deliveries go to the
   * new URL, with the attempts that are left. Deliveries of a removed type are shown as cancelled at once,
   * and a worker cancels them in the background. After a change of the URL, earlier failures no longer count.
   * `context: true` adds all context that the actor may read to the webhooks. Nothing changes if the endpoint
   * has these values already. The DNS lookup of a new host name may take 5 s.
   * @throws AppError INVALID_BODY: nothing to change, a refused URL, an unknown event type; CONFLICT: the
   *   endpoint was edited since `version`; FORBIDDEN, also for a key that may not read the old or new events
   *   or the context; NOT_FOUND; RATE_LIMITED, UNAVAILABLE: too many look-ups at once
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
    const present = await this.endpoints.get(tenantId, id);
    requireEventScopes(actor, [...present.events, ...(given.events ?? [])]);
    const settings = Object.fromEntries(
      Object.entries(given).filter(([, value]) => value !== undefined),
    ) as EditedSettings;
    if (settings.url !== undefined && settings.url !== present.url)
      settings.url = await this.registration.checkUrl(tenantId, settings.url, actor);
    return this.change(tenantId, id, 'update', actor, async (tx, before) => {
      // The context loses no part, because `lock` has refused an actor who may not read all its parts.
      if (context !== undefined) settings.context = context ? partsFor(actor) : null;
      const after = await this.changes.edit(tx, before, { settings, version }, actor);
      if (active === undefined || active === before.active) return after;
      const change = active ? 'activate' : 'deactivate';
      await requirePermission(tx, tenantId, actor, `webhook_endpoint.${change}`);
      return this.changes.apply(tx, after, change, actor);
    });
  }

  /**
   * Activates an endpoint. It receives only events that happen after the activation.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  activate(tenantId: string, id: string, actor: Actor): Promise<WebhookEndpointSummary> {
    return this.apply(tenantId, id, 'activate', actor);
  }

  /**
   * Deactivates an endpoint. No attempt begins after the answer. Its pending deliveries are shown as
   * cancelled at once, and a worker cancels them in the background.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  deactivate(tenantId: string, id: string, actor: Actor): Promise<WebhookEndpointSummary> {
    return this.apply(tenantId, id, 'deactivate', actor);
  }

  /**
   * Deletes an endpoint. No attempt begins after the answer. A worker cancels its pending deliveries in the
   * background.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async delete(tenantId: string, id: string, actor: Actor): Promise<void> {
    await this.apply(tenantId, id, 'delete', actor);
  }

  /**
   * Gives an endpoint a new secret, which only this result contains. During the grace period the previous
   * secret signs as well: `webhook-signature` has both signatures, and `serviceSignature` names the secret
   * that signs `x-service-signature`. The new secret signs every attempt that begins after the answer. The
   * period ends by the database's clock. An attempt that was claimed before the end may be signed with the
   * previous secret for up to a second more.
   * @throws AppError INVALID_BODY, also when the previous secret of an earlier roll still signs, unless
   *   `gracePeriodSeconds` is 0, which ends it; FORBIDDEN; NOT_FOUND
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
    const { secret, sealed } = this.registration.makeSecret(id);
    const roll = { gracePeriodSeconds, serviceSignature };
    const summary = await this.change(tenantId, id, 'roll_secret', actor, (tx, before) =>
      this.changes.rollSecret(tx, before, sealed, roll, actor),
    );
    return { ...summary, secret };
  }

  /**
   * Ends the previous secret of a roll at once. Only the present secret signs attempts that begin after the
   * answer. Without a previous secret nothing changes.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  endPreviousSecret(tenantId: string, id: string, actor: Actor): Promise<WebhookEndpointSummary> {
    return this.change(tenantId, id, 'roll_secret', actor, (tx, before) =>
      this.changes.endPreviousSecret(tx, before, actor),
    );
  }

  private apply(tenantId: string, id: string, change: Change, actor: Actor): Promise<WebhookEndpointSummary> {
    return this.change(tenantId, id, change, actor, (tx, before) =>
      this.changes.apply(tx, before, change, actor),
    );
  }

  /** Changes a locked endpoint. Then waits until no claimed delivery can start by the old values any more. */
  private async change(
    tenantId: string,
    id: string,
    action: Change | 'update' | 'roll_secret',
    actor: Actor,
    work: (tx: Transaction, before: WebhookEndpoint) => Promise<WebhookEndpoint>,
  ): Promise<WebhookEndpointSummary> {
    const [before, after, isRecovering] = await this.database.transaction(async (tx) => {
      const locked = await this.changes.lock(tx, tenantId, id, actor, `webhook_endpoint.${action}`);
      const isRecovering = locked.recoveringId !== null;
      return [toEndpointSummary(locked), toEndpointSummary(await work(tx, locked)), isRecovering];
    });
    const usesOther =
      isRecovering || action === 'roll_secret' || changedValues(before, after, USED_BY_ATTEMPTS) !== null;
    if (usesOther || !after.active) await this.claims.waitForEndpoints(tenantId, [id]);
    return after;
  }
}
