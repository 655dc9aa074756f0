import { Injectable } from '@nestjs/common';
import { requirePermission, requireReadPermission } from '../access/require-permission';
import { AppError } from '../common/app-error';
import { idTime, isId, LOWEST_ID, newId } from '../common/ids';
import { Page, toPage } from '../common/page';
import { Actor, actorIdOf, idOf, Origin } from '../access/principal';
import { validate } from '../common/validate';
import { cutStorable } from '../common/validators';
import { Database } from '../database/database';
import { Pipelined, Transaction } from '../database/transaction';
import { OutboxService } from '../outbox/outbox.service';
import { AuditEntriesRepository } from './audit-entries.repository';
import {
  AUDIT_EXPORT_FORMATS,
  AuditExportFormat,
  AuditValues,
  ExportAuditEntriesQuery,
  ListAuditEntriesQuery,
} from './audit-entry.dto';
import { AuditEntryEntity } from './audit-entry.entity';
import { headOf, lineOf } from './audit-lines';
import { maskUrls } from './masked-urls';

/**
 * Entry to append. It is kept for ever, so it must contain no secret, and nothing of a contact except ids.
 * URLs in it are shortened before they are stored.
 */
export interface AuditRecord {
  tenantId: string;
  actor: Actor;
  /** Changed thing and a verb in the past tense, such as `api_key.revoked`. */
  action: string;
  entity: string;
  entityId: string;
  /** Values before the change, as `changedValues` returns them; left out for a new thing. */
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
  metadata?: Record<string, unknown>;
}

const EXPORT_STEP = 1_000;
/** Maximum values that are listed for each filter of the audit log. */
const MAX_VALUES = 200;
const MAX_ADDRESS = 45;
const MAX_USER_AGENT = 512;
const MAX_REQUEST_ID = 128;

@Injectable()
export class AuditService {
  constructor(
    private readonly database: Database,
    private readonly entries: AuditEntriesRepository,
    private readonly outbox: OutboxService,
  ) {}

  /**
   * Appends an entry with its `audit.event`, for an action of the application that embeds this service, such
   * as a login there. Webhooks get the event only in workspaces with the `auditWebhookExport` entitlement.
   * @throws AppError INVALID_BODY (the actor is not an active agent of the workspace), NOT_FOUND (the
   *   workspace)
   */
  record(entry: AuditRecord): Promise<void> {
    return this.database.transaction(async (tx) => {
      await requirePermission(tx, entry.tenantId, entry.actor, 'audit_entry.record');
      this.appendPipelined(tx, entry);
    });
  }

  /**
   * Appends an entry and its `audit.event`, both with the same id, in the transaction of the change. The
   * caller must have checked the actor's permission. The event's `metadata` include `before`, `after` and the
   * origin. If they include a `conversationId`, open inboxes load that conversation once more.
   * @param id a new id, if the caller needs to know it
   * @throws AppError NOT_FOUND (the workspace)
   * @internal
   */
  appendPipelined(tx: Transaction, record: AuditRecord, id = newId()): Pipelined {
    const { tenantId, actor, action, entity, entityId, ...values } = record;
    const { before, after, metadata = {} } = maskUrls(values);
    if (!isId(tenantId)) throw AppError.notFound('Workspace');
    const origin = storedOrigin(actor.origin);
    this.entries.insertPipelined(tx, {
      tenantId,
      id,
      action,
      entity,
      entityId,
      actorType: actor.type,
      actorId: idOf(actor),
      actorName: actor.type === 'operator' ? actor.name : null,
      address: origin?.address ?? null,
      userAgent: origin?.userAgent ?? null,
      requestId: origin?.requestId ?? null,
      before: before ?? null,
      after: after ?? null,
      metadata,
      // The time in the id, because the list of entries filters by the time in their ids.
      createdAt: idTime(id),
    });
    const data = {
      action,
      entity,
      entityId,
      actorId: actorIdOf(actor),
      metadata: {
        ...metadata,
        ...(before && { before }),
        ...(after && { after }),
        ...(origin && { origin }),
      },
    };
    // The event gets the entry's id, because an erasure finds the events about a contact by it.
    return this.outbox.appendPipelined(tx, tenantId, 'audit.event', data, { id });
  }

  /**
   * Returns a page of a workspace's entries, newest first: 50 by default, 200 at most. Can be filtered by
   * action, actor, thing and time.
   * @throws AppError INVALID_QUERY, FORBIDDEN
   */
  async list(
    tenantId: string,
    input: Partial<ListAuditEntriesQuery>,
    actor: Actor,
  ): Promise<Page<AuditEntryEntity>> {
    const { limit, ...filter } = validate(ListAuditEntriesQuery, input, 'INVALID_QUERY');
    await requireReadPermission(this.database, tenantId, actor, 'audit.read');
    const rows = await this.entries.list(tenantId, filter, limit + 1);
    return toPage(rows, limit, (entry) => entry);
  }

  /**
   * Returns the actions, types of entities and actors in a workspace's entries, at most 200 of each.
   * @throws AppError FORBIDDEN
   */
  async listValues(tenantId: string, actor: Actor): Promise<AuditValues> {
    await requireReadPermission(this.database, tenantId, actor, 'audit.read');
    if (!isId(tenantId)) return { actions: [], entities: [], actors: [] };
    const actions = await this.entries.listValues(tenantId, 'action', MAX_VALUES);
    const entities = await this.entries.listValues(tenantId, 'entity', MAX_VALUES);
    const actors = await this.entries.listValues(tenantId, 'actor', MAX_VALUES);
    return { actions, entities, actors };
  }

  /**
   * Yields a workspace's entries that pass a filter, oldest first, as lines of text; CSV begins with the
   * column names. Entries are read 1,000 at a time, when the consumer needs them. Each read checks the
   * actor's permission again, so that the call may throw after lines were consumed.
   * @param format `ndjson` or `csv`
   * @throws AppError INVALID_QUERY (at the first line), FORBIDDEN
   */
  async *export(
    tenantId: string,
    input: ExportAuditEntriesQuery,
    actor: Actor,
    format: AuditExportFormat = 'ndjson',
  ): AsyncGenerator<string, void> {
    const filter = validate(ExportAuditEntriesQuery, input, 'INVALID_QUERY');
    if (!AUDIT_EXPORT_FORMATS.includes(format))
      throw new AppError('INVALID_QUERY', 'format must be ndjson or csv.');
    for (let after = LOWEST_ID; ;) {
      await requireReadPermission(this.database, tenantId, actor, 'audit.read');
      if (after === LOWEST_ID) yield* headOf(format);
      if (!isId(tenantId)) return;
      const entries = await this.entries.listNext(tenantId, filter, after, EXPORT_STEP);
      for (const entry of entries) yield lineOf(entry, format);
      if (entries.length < EXPORT_STEP) return;
      after = entries.at(-1)!.id;
    }
  }
}

/** Returns the parts of an origin that an entry stores, each cut to its maximum length. */
function storedOrigin({ address, userAgent, requestId }: Origin = {}): Origin | undefined {
  const origin = {
    ...(address && { address: cutStorable(address, MAX_ADDRESS) }),
    ...(userAgent && { userAgent: cutStorable(userAgent, MAX_USER_AGENT) }),
    ...(requestId && { requestId: cutStorable(requestId, MAX_REQUEST_ID) }),
  };
  return Object.keys(origin).length > 0 ? origin : undefined;
}
