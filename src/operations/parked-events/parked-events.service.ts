import { Injectable } from '@nestjs/common';
import { Permission } from '../../access/permissions';
import { requireOperator, requirePermission, requireReadPermission } from '../../access/require-permission';
import { AuditService } from '../../audit/audit.service';
import { AppError } from '../../common/app-error';
import { isId } from '../../common/ids';
import { Actor, SYSTEM } from '../../access/principal';
import { Database } from '../../database/database';
import { ParkedEvent, ParkedEventKey, ParkedEventsRepository } from '../../outbox/parked-events.repository';

const MAX_LISTED = 1_000;

type Request = NonNullable<ParkedEvent['request']>;
const REQUESTS: Record<Request, { permission: Permission; action: string }> = {
  RETRY: { permission: 'parked_event.retry', action: 'parked_event.retry_requested' },
  GIVE_UP: { permission: 'parked_event.give_up', action: 'parked_event.give_up_requested' },
};

/**
 * Lists events that a consumer could not process, and stores an operator's decision about each. Until the
 * decision, the event's conversation waits, but no other conversation.
 */
@Injectable()
export class ParkedEventsService {
  constructor(
    private readonly database: Database,
    private readonly parked: ParkedEventsRepository,
    private readonly audit: AuditService,
  ) {}

  /**
   * Lists up to 1,000 parked events, oldest first. Without a `tenantId` it lists the events of all
   * workspaces, for operators only.
   * @throws AppError FORBIDDEN
   */
  async list(tenantId: string | undefined, actor: Actor): Promise<ParkedEvent[]> {
    if (tenantId === undefined) requireOperator(actor, 'parked_event.read');
    else await requireReadPermission(this.database, tenantId, actor, 'parked_event.read');
    if (tenantId !== undefined && !isId(tenantId)) return [];
    return this.parked.list(MAX_LISTED, tenantId ?? null);
  }

  /**
   * Makes a worker retry the event within seconds, for the consumer that failed. Other consumers do not
   * receive it again.
   * @throws AppError NOT_FOUND; FORBIDDEN to agents
   */
  retry(key: ParkedEventKey, actor: Actor = SYSTEM): Promise<void> {
    return this.request(key, 'RETRY', actor);
  }

  /**
   * Makes a worker drop the event for the consumer that failed. If the consumer should have sent a message,
   * the message becomes FAILED, and its conversation continues.
   * @throws AppError NOT_FOUND; FORBIDDEN to agents
   */
  giveUp(key: ParkedEventKey, actor: Actor = SYSTEM): Promise<void> {
    return this.request(key, 'GIVE_UP', actor);
  }

  private async request(key: ParkedEventKey, request: Request, actor: Actor): Promise<void> {
    const { tenantId, eventId, consumer } = key;
    const { permission, action } = REQUESTS[request];
    if (!isId(tenantId) || !isId(eventId)) throw AppError.notFound('Parked event');
    await this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, permission);
      const before = await this.parked.lock(tx, key);
      if (!before) throw AppError.notFound('Parked event');
      if (before.request === request) return;
      await this.parked.request(tx, key, request);
      const subject = { tenantId, actor, entity: 'parked_event', entityId: eventId };
      const changed = { before: { request: before.request }, after: { request } };
      this.audit.appendPipelined(tx, { ...subject, action, ...changed, metadata: { consumer } });
    });
  }
}
