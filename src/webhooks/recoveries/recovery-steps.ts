import { Injectable } from '@nestjs/common';
import { idFloor } from '../../common/ids';
import { Transaction } from '../../database/transaction';
import { NewRound } from '../deliveries/pending-deliveries.repository';
import { EndpointSubscription } from '../endpoints/subscription';
import { Subscriber } from '../endpoints/webhook-endpoints.repository';
import { MatchingDeliveries } from './matching-deliveries';
import { MissedDeliveries, MissedStep } from './missed-deliveries';
import { StoredFilter, WebhookRecoveryEntity } from './webhook-recovery.entity';

/** Events or deliveries of one step. */
const BATCH = 1_000;

/** What a recovery delivers next. */
export interface RecoveryStep {
  rounds: Omit<NewRound, 'activation'>[];
  cursor: string;
  isLast: boolean;
}

/** Finds the next deliveries of a recovery, whatever it is of. */
@Injectable()
export class RecoverySteps {
  constructor(
    private readonly subscription: EndpointSubscription,
    private readonly missed: MissedDeliveries,
    private readonly matching: MatchingDeliveries,
  ) {}

  /** @returns null while it must wait for the relay */
  next(tx: Transaction, recovery: WebhookRecoveryEntity, endpoint: Subscriber): Promise<RecoveryStep | null> {
    const { filter } = recovery;
    return filter ? this.nextMatching(tx, recovery, filter) : this.nextMissed(tx, recovery, endpoint);
  }

  private async nextMatching(
    tx: Transaction,
    { tenantId, until, cursor }: WebhookRecoveryEntity,
    filter: StoredFilter,
  ): Promise<RecoveryStep> {
    const { matching, next } = await this.matching.step(tx, { tenantId, filter, until, cursor }, BATCH);
    const rounds = matching.map(({ id, endpointId, eventId, eventType, round }) => ({
      tenantId,
      id,
      endpointId,
      eventId,
      eventType,
      round: round + 1,
    }));
    return { rounds, cursor: next ?? cursor, isLast: next === null };
  }

  private async nextMissed(
    tx: Transaction,
    { tenantId, endpointId, until, cursor }: WebhookRecoveryEntity,
    endpoint: Subscriber,
  ): Promise<RecoveryStep | null> {
    const { activation, activatedAt } = endpoint;
    const types = await this.subscription.typesOf(tx, endpoint);
    const range = {
      tenantId,
      endpointId,
      activation,
      activatedAt,
      after: cursor,
      before: idFloor(until),
      types,
    };
    const { missed, next } = withoutQueued(await this.missed.step(tx, range, BATCH), cursor);
    return next === cursor ? null : { rounds: missed, cursor: next ?? cursor, isLast: next === null };
  }
}

/** The part of a step before the first event that the relay still has. */
function withoutQueued({ missed, next }: MissedStep, cursor: string): MissedStep {
  const first = missed.findIndex(({ isQueued }) => isQueued);
  if (first === -1) return { missed, next };
  const ready = missed.slice(0, first);
  return { missed: ready, next: ready.at(-1)?.eventId ?? cursor };
}
