import { Injectable } from '@nestjs/common';
import { FindOptionsWhere, MoreThan } from 'typeorm';
import { idFloor, isId, newId } from '../../common/ids';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { WebhookDeliveriesRepository } from '../deliveries/webhook-deliveries.repository';
import { WebhookRecoveryEntity } from './webhook-recovery.entity';

/** Which events an endpoint should have had. */
export interface EventRange {
  tenantId: string;
  endpointId: string;
  /** Above this event … */
  after: string;
  /** … and before this moment. */
  until: Date;
  /** The endpoint's subscription, spelled out. */
  types: string[];
}

const IN_RANGE = `e.tenant_id = $1 AND e.id > $2 AND e.id < $3 AND e.type = ANY ($4) AND e.relayed_at IS NOT NULL`;
/** The endpoint has had it, or has it coming. */
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
   * How many events of the range the endpoint never got. A difference of two sets, and no join: before the tables are
   * first analysed, the planner would compare each event with all of the endpoint's deliveries.
   */
  async count(tx: Transaction, range: EventRange): Promise<number> {
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

  /** The running recovery that comes after that one, or else the first, of those that no other worker has in hand. */
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

  /** The next events of the range, those that the endpoint got among them. */
  async nextEvents(tx: Transaction, range: EventRange, count: number): Promise<RecoverableEvent[]> {
    // Between two events of the endpoint's may lie any number that are not.
    await tx.allowLongStatements();
    return tx.query<RecoverableEvent>(
      `SELECT e.id, e.type FROM events e WHERE ${IN_RANGE} ORDER BY e.id LIMIT $5`,
      [...parametersOf(range), count],
    );
  }

  /** Those of the events that the endpoint never got. */
  async missed(
    tx: Transaction,
    { tenantId, endpointId }: EventRange,
    events: RecoverableEvent[],
  ): Promise<RecoverableEvent[]> {
    const delivered = await tx.query<{ id: string }>(
      `SELECT d.event_id AS id FROM webhook_deliveries d
       WHERE d.tenant_id = $1 AND d.endpoint_id = $2 AND d.event_id = ANY ($3) AND ${IS_DELIVERED}`,
      [tenantId, endpointId, events.map(({ id }) => id)],
    );
    const had = new Set(delivered.map(({ id }) => id));
    return events.filter(({ id }) => !had.has(id));
  }

  /**
   * Owes events to an endpoint, again or for the first time.
   * @returns how many are owed now that were not
   */
  owe(tx: Transaction, { tenantId, endpointId }: EventRange, events: RecoverableEvent[]): Promise<number> {
    const owed = events.map(({ id: eventId, type: eventType }) => {
      return { tenantId, id: newId(), endpointId, eventId, eventType };
    });
    return this.deliveries.insertOrRenewMany(tx, owed);
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
