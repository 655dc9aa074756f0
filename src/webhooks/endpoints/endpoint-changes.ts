import { Injectable } from '@nestjs/common';
import { AlertKind } from '../../alerts/alert-kinds';
import { AlertWriter } from '../../alerts/alert-writer';
import { Permission } from '../../access/permissions';
import { Actor, SYSTEM } from '../../access/principal';
import { requirePermission, requireWorkingKey } from '../../access/require-permission';
import { AuditRecord, AuditService } from '../../audit/audit.service';
import { changedValues, describeText, valuesOf } from '../../audit/changed-values';
import { AppError } from '../../common/app-error';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { SealedSecret } from '../../secrets/secret-box';
import { WorkspaceEntity } from '../../workspaces/workspace.entity';
import { WorkspacesRepository } from '../../workspaces/workspaces.repository';
import { requireContextScopes } from '../context/context-parts';
import { AutomaticRecoveriesRepository } from './automatic-recoveries.repository';
import { requireEventScopes } from './event-scopes';
import { receivesFewerTypes } from './subscription';
import { DeactivationReason, WebhookEndpoint } from './webhook-endpoint';
import { toEndpointSummary } from './webhook-endpoint.dto';
import { RollSecret } from './webhook-endpoint-input.dto';
import { EndpointSettings, NewEndpoint, WebhookEndpointsRepository } from './webhook-endpoints.repository';

/** Milliseconds of failures without a success after which an endpoint is deactivated. */
export const DEACTIVATE_AFTER_MS = 5 * 24 * 60 * 60 * 1000;

const CHANGES = {
  activate: { action: 'activated', active: true },
  deactivate: { action: 'deactivated', active: false },
  delete: { action: 'deleted', active: false },
} as const;
export type Change = keyof typeof CHANGES;

/** Alerts of an endpoint that its change resolves. */
const RESOLVED_BY: Record<Change, AlertKind[]> = {
  activate: ['ENDPOINT_SWITCHED_OFF'],
  deactivate: ['ENDPOINT_FAILING'],
  delete: ['ENDPOINT_FAILING', 'ENDPOINT_SWITCHED_OFF', 'RECOVERY_FINISHED', 'RECOVERY_STOPPED'],
};

type Action =
  | 'created'
  | 'updated'
  | 'handed_over'
  | (typeof CHANGES)[Change]['action']
  | 'secret_rolled'
  | 'previous_secret_ended';

const SETTINGS = [
  'url',
  'events',
  'context',
  'rateLimit',
  'name',
  'description',
  'automaticRecovery',
] as const;
export const AUDITED = [...SETTINGS, 'active'] as const;

/** Milliseconds before the last success in which a delivery may have begun that was given up after it. */
const PENDING_FOR_MS = 5 * 60 * 1000;

export type EditedSettings = Partial<Omit<EndpointSettings, 'recoversSince'>> & {
  automaticRecovery?: boolean;
};

/** Changes locked endpoints, with audit entries, and has deliveries cancelled that may no longer be sent. */
@Injectable()
export class EndpointChanges {
  constructor(
    private readonly database: Database,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly workspaces: WorkspacesRepository,
    private readonly audit: AuditService,
    private readonly automatic: AutomaticRecoveriesRepository,
    private readonly alerts: AlertWriter,
  ) {}

  /**
   * Checks the actor's permission, and locks an endpoint that the actor changes.
   * @throws AppError NOT_FOUND; FORBIDDEN: an actor without the permission, or a key that may not read the
   *   endpoint's events or context; UNAUTHENTICATED: a key that was revoked meanwhile
   */
  async lock(
    tx: Transaction,
    tenantId: string,
    id: string,
    actor: Actor,
    permission: Permission,
  ): Promise<WebhookEndpoint> {
    await requirePermission(tx, tenantId, actor, permission);
    await requireWorkingKey(tx, tenantId, actor);
    const endpoint = await this.endpoints.lock(tx, tenantId, id);
    if (!endpoint) throw AppError.notFound('Webhook endpoint');
    requireEventScopes(actor, endpoint.events);
    requireContextScopes(actor, endpoint.context);
    return endpoint;
  }

  async insert(tx: Transaction, endpoint: NewEndpoint): Promise<WebhookEndpoint> {
    const inserted = await this.endpoints.insert(tx, endpoint);
    this.recordPipelined(tx, inserted, 'created', endpoint.maker, {
      after: valuesOf(audited(inserted), AUDITED),
    });
    return inserted;
  }

  /**
   * Edits the settings of a locked endpoint, and returns the edited endpoint. Its automatic recovery ends. If
   * it is failing, and automatic recovery is turned on now, the events since its last success are recovered.
   * @throws AppError CONFLICT: the endpoint was edited since `version`
   */
  async edit(
    tx: Transaction,
    before: WebhookEndpoint,
    { settings, version }: { settings: EditedSettings; version?: number },
    actor: Actor,
  ): Promise<WebhookEndpoint> {
    const { url } = before;
    const { automaticRecovery = before.recoversSince !== null, ...others } = settings;
    const missedSince = automaticRecovery && !before.recoversSince ? missedSinceOf(before) : null;
    const recoversSince = automaticRecovery ? (missedSince ?? new Date()) : null;
    const after = { ...before, ...others, recoversSince };
    const changed = changedValues(audited(before), audited(after), SETTINGS);
    if (!changed) return before;
    if (version !== undefined && before.version !== version)
      throw AppError.because('CONFLICT', 'endpoint_edited');
    const edited = await this.endpoints.update(tx, before, after, actor);
    if (after.url !== url) await this.alerts.resolve(tx, before.tenantId, ['ENDPOINT_FAILING'], before.id);
    if (before.active && receivesFewerTypes(after, before)) await this.endpoints.cancelUnowed(tx, before);
    await this.endRecovery(tx, before);
    if (missedSince && after.url === url) this.noteMissedPipelined(tx, before, missedSince);
    this.recordPipelined(tx, before, 'updated', actor, { ...changed, metadata: { url } });
    return edited;
  }

  /**
   * Activates, deactivates or deletes a locked endpoint, and returns the changed endpoint. An active endpoint
   * is not activated again, and an inactive one is not deactivated again.
   */
  async apply(
    tx: Transaction,
    before: WebhookEndpoint,
    change: Change,
    actor: Actor,
    { reason = null, metadata = {} }: { reason?: DeactivationReason | null; metadata?: object } = {},
  ): Promise<WebhookEndpoint> {
    const { url } = before;
    const { action, active } = CHANGES[change];
    const isDeleted = change === 'delete';
    if (!isDeleted && before.active === active) return before;
    const after = active
      ? await this.endpoints.activate(tx, before)
      : await this.endpoints.deactivate(tx, before, { isDeleted, reason });
    if (!active) await this.endpoints.cancelUnowed(tx, before);
    const isOffByItself = (active ? before : after).deactivationReason === 'failing';
    if (!isOffByItself || isDeleted) await this.endRecovery(tx, before);
    else if (active) await this.automatic.resume(tx, before.tenantId, before.id);
    else if (before.recoversSince) this.noteMissedPipelined(tx, before, missedSinceOf(before) ?? new Date());
    await this.updateAlerts(tx, before, change, reason);
    const changed = isDeleted
      ? { before: valuesOf(audited(before), AUDITED) }
      : changedValues(before, after, ['active']);
    this.recordPipelined(tx, before, action, actor, {
      ...changed,
      metadata: { url, ...(reason && { reason }), ...metadata },
    });
    return after;
  }

  /**
   * Gives a locked endpoint a new secret, and returns the changed endpoint. Without a grace period, the
   * previous secret no longer signs.
   * @throws AppError INVALID_BODY: a grace period, while the previous secret of an earlier roll still signs
   */
  async rollSecret(
    tx: Transaction,
    before: WebhookEndpoint,
    sealed: SealedSecret,
    { gracePeriodSeconds, serviceSignature }: Required<RollSecret>,
    actor: Actor,
  ): Promise<WebhookEndpoint> {
    const isKept = gracePeriodSeconds > 0;
    const { previousSecretEndsAt: until } = toEndpointSummary(before);
    if (isKept && until !== null)
      throw AppError.because('INVALID_BODY', 'previous_secret_signs', { until: until.toISOString() });
    const grace = { gracePeriodSeconds, signsService: serviceSignature === 'previous' };
    const after = isKept
      ? await this.endpoints.rollSecret(tx, before, sealed, grace, actor)
      : await this.endpoints.replaceSecret(tx, before, sealed, actor);
    await this.endRecovery(tx, before);
    this.recordSecretPipelined(tx, before, after, actor, isKept ? { serviceSignature } : {});
    return after;
  }

  async endPreviousSecret(tx: Transaction, before: WebhookEndpoint, actor: Actor): Promise<WebhookEndpoint> {
    if (toEndpointSummary(before).previousSecretEndsAt === null) return before;
    const after = await this.endpoints.endPreviousSecret(tx, before);
    await this.endRecovery(tx, before);
    this.recordSecretPipelined(tx, before, after, actor, null);
    return after;
  }

  /**
   * Deactivates an endpoint for its failures, unless it is inactive or has got another URL. The reason
   * `failing` needs five days of failures since the workspace was last resumed after a suspension.
   * @returns whether the endpoint was deactivated
   */
  deactivateAfterFailures(
    { tenantId, id, url }: Pick<WebhookEndpoint, 'tenantId' | 'id' | 'url'>,
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

  /** Ends the endpoint's automatic recovery after a person's act. People may still recover the events. */
  private async endRecovery(
    tx: Transaction,
    { tenantId, id, recoversSince }: WebhookEndpoint,
  ): Promise<void> {
    if (!recoversSince) return;
    await this.automatic.delete(tx, tenantId, id);
    await this.alerts.resolve(tx, tenantId, ['RECOVERY_STOPPED'], id);
  }

  private noteMissedPipelined(tx: Transaction, { tenantId, id }: WebhookEndpoint, since: Date): void {
    this.automatic.notePipelined(tx, [{ tenantId, endpointId: id, since }]);
  }

  private async updateAlerts(
    tx: Transaction,
    { tenantId, id }: WebhookEndpoint,
    change: Change,
    reason: DeactivationReason | null,
  ): Promise<void> {
    await this.alerts.resolve(tx, tenantId, RESOLVED_BY[change], id);
    if (reason) await this.alerts.open(tx, tenantId, 'ENDPOINT_SWITCHED_OFF', id);
  }

  recordPipelined(
    tx: Transaction,
    { tenantId, id }: WebhookEndpoint,
    action: Action,
    actor: Actor,
    details: Pick<AuditRecord, 'before' | 'after' | 'metadata'>,
  ): void {
    const subject = { tenantId, actor, entity: 'webhook_endpoint', entityId: id };
    this.audit.appendPipelined(tx, { ...subject, action: `webhook_endpoint.${action}`, ...details });
  }

  private recordSecretPipelined(
    tx: Transaction,
    before: WebhookEndpoint,
    after: WebhookEndpoint,
    actor: Actor,
    roll: object | null,
  ): void {
    this.recordPipelined(tx, before, roll ? 'secret_rolled' : 'previous_secret_ended', actor, {
      ...changedValues(toEndpointSummary(before), toEndpointSummary(after), ['previousSecretEndsAt']),
      metadata: { url: before.url, ...roll },
    });
  }
}

function audited(endpoint: WebhookEndpoint) {
  const { description, recoversSince } = endpoint;
  const automaticRecovery = recoversSince !== null;
  return {
    ...endpoint,
    automaticRecovery,
    description: description === null ? null : describeText(description),
  };
}

function isFailingForDays({ failingSince }: WebhookEndpoint, workspace: WorkspaceEntity | null): boolean {
  if (failingSince === null) return false;
  const since = Math.max(failingSince.getTime(), workspace?.resumedAt?.getTime() ?? 0);
  return Date.now() - since > DEACTIVATE_AFTER_MS;
}

/** Returns a time before all events that a failing endpoint has missed since its last success. */
function missedSinceOf(endpoint: WebhookEndpoint): Date | null {
  const { active, failingSince, lastSuccessAt, activatedAt, deactivationReason } = endpoint;
  const isFailing = active ? failingSince !== null : deactivationReason === 'failing';
  if (!isFailing) return null;
  const since = new Date((lastSuccessAt ?? activatedAt).getTime() - PENDING_FOR_MS);
  return since > activatedAt ? since : activatedAt;
}
