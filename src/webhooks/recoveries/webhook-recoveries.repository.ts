import { Injectable } from '@nestjs/common';
import { FindOptionsWhere, MoreThan } from 'typeorm';
import { idFloor, isId, newId } from '../../common/ids';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { WebhookDeliveriesRepository } from '../deliveries/webhook-deliveries.repository';
import { WebhookRecoveryEntity } from './webhook-recovery.entity';

/** The events that an endpoint should have received. */
export interface EventRange {
  tenantId: string;
  endpointId: string;
  /** An event id; exclusive. */
  after: string;
  /** Exclusive. */
  until: Date;
  /** The endpoint's subscription, without `*`. */
  types: string[];
}

const IN_RANGE = `e.tenant_id = $1 AND e.id > $2 AND e.id < $3 AND e.type = ANY ($4) AND e.relayed_at IS NOT NULL`;
/** The endpoint has received it, or it is pending. */
const IS_DELIVERED = `d.status IN ('SUCCEEDED', 'PENDING')`;

@Injectable()
export class WebhookRecoveriesRepository {
  constructor(
    private readonly database: Database,
    private readonly deliveries: WebhookDeliveriesRepository,
  ) {}

  async find(tenantId: string, id: string): Promise<WebhookRecoveryEntity | null> {
    return isId(id) ? this.database.manager.findOneBy(WebhookRecoveryEntity, { tenantId, id }) : null;
  }

  async insert(tx: Transaction, recovery: WebhookRecoveryEntity): Promise<void> {
    await tx.manager.insert(WebhookRecoveryEntity, recovery);
  }

  /**
   * Counts the missed events of the range. A difference of two sets, and no join: before the first ANALYZE the planner
   * would compare each event with all of the endpoint's deliveries.
   */
  async countMissed(tx: Transaction, range: EventRange): Promise<number> {
    await tx.allowLongStatements();
    const [row] = await tx.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM (
         SELECT e.id FROM events e WHERE ${IN_RANGE}
         EXCEPT
         SELECT d.event_id FROM webhook_deliveries d
         WHERE d.tenant_id = $1 AND d.event_id > $2 AND d.event_id < $3 AND d.endpoint_id = $5 AND ${IS_DELIVERED}
       ) AS missed`,
      [...parametersOf(range), range.endpointId],
    );
    return row!.count;
  }

  /** The running recovery after the previous one, or else the first. Skips those that another worker has locked. */
  async lockNextRunning(tx: Transaction, previousId: string): Promise<WebhookRecoveryEntity | null> {
    const following = await this.lockRunning(tx, { id: MoreThan(previousId) });
    return following ?? this.lockRunning(tx, {});
  }

  private lockRunning(
    tx: Transaction,
    where: FindOptionsWhere<WebhookRecoveryEntity>,
  ): Promise<WebhookRecoveryEntity | null> {
    return tx.manager.findOne(WebhookRecoveryEntity, {
      where: { ...where, status: 'RUNNING' },
      order: { id: 'ASC' },
      lock: { mode: 'for_no_key_update', onLocked: 'skip_locked' },
    });
  }

  /** The next events of the range, delivered or not. */
  async nextEvents(tx: Transaction, range: EventRange, count: number): Promise<RecoverableEvent[]> {
    // Any number of other events may lie between two of these.
    await tx.allowLongStatements();
    return tx.query<RecoverableEvent>(
      `SELECT e.id, e.type FROM events e WHERE ${IN_RANGE} ORDER BY e.id LIMIT $5`,
      [...parametersOf(range), count],
    );
  }

  async findMissed(
    tx: Transaction,
    { tenantId, endpointId }: EventRange,
    events: RecoverableEvent[],
  ): Promise<RecoverableEvent[]> {
    const delivered = await tx.query<{ id: string }>(
      `SELECT d.event_id AS id FROM webhook_deliveries d
       WHERE d.tenant_id = $1 AND d.endpoint_id = $2 AND d.event_id = ANY ($3) AND ${IS_DELIVERED}`,
      [tenantId, endpointId, events.map(({ id }) => id)],
    );
    const deliveredIds = new Set(delivered.map(({ id }) => id));
    return events.filter(({ id }) => !deliveredIds.has(id));
  }

  /**
   * Makes deliveries of the events pending, new or existing ones.
   * @returns how many
   */
  enqueue(
    tx: Transaction,
    { tenantId, endpointId }: EventRange,
    events: RecoverableEvent[],
  ): Promise<number> {
    const deliveries = events.map(({ id: eventId, type: eventType }) => {
      return { tenantId, id: newId(), endpointId, eventId, eventType };
    });
    return this.deliveries.insertOrResetMany(tx, deliveries);
  }

  async advance(tx: Transaction, recovery: WebhookRecoveryEntity): Promise<void> {
    const { tenantId, id, status, recovered, cursor, finishedAt } = recovery;
    await tx.manager.update(
      WebhookRecoveryEntity,
      { tenantId, id },
      { status, recovered, cursor, finishedAt },
    );
  }
}

export interface RecoverableEvent {
  id: string;
  type: string;
}

function parametersOf({ tenantId, after, until, types }: EventRange): unknown[] {
  return [tenantId, after, idFloor(until), types];
}
