import { Injectable } from '@nestjs/common';
import { idFloor } from '../../common/ids';
import { Transaction } from '../../database/transaction';
import { WakeUps } from '../../queue/wake-ups';
import { DELIVERY_QUEUE, targetOf } from '../deliveries/delivery';
import { DeliveryRoundsRepository } from '../deliveries/delivery-rounds.repository';
import { RecoveryOutcomesRepository } from '../deliveries/recovery-outcomes.repository';
import { Subscriber, SubscribersRepository } from '../endpoints/subscribers.repository';
import { beforeQueued, oneOfEachConversation, RecoveryRound, RecoverySource } from './recovery-source';
import { WebhookRecoveriesRepository } from './webhook-recoveries.repository';
import { WebhookRecovery } from './webhook-recovery';

/** Number of an endpoint's pending recovered deliveries at which its recovery waits before it makes more. */
const ENOUGH_PENDING = 2_000;
/** Number of pending deliveries at which an automatic recovery waits: few, as a failure takes them back. */
const ENOUGH_AUTOMATIC = 100;

@Injectable()
export class RecoveryMaker {
  constructor(
    private readonly recoveries: WebhookRecoveriesRepository,
    private readonly endpoints: SubscribersRepository,
    private readonly source: RecoverySource,
    private readonly rounds: DeliveryRoundsRepository,
    private readonly outcomes: RecoveryOutcomesRepository,
    private readonly wakeUps: WakeUps,
  ) {}

  /**
   * Makes the next deliveries of a recovery pending.
   * @returns the recovery's new row; null if it must wait, because enough deliveries are pending, the next
   *   event is still queued, or an event from before the endpoint's activation may be uncommitted
   */
  async makeNext(tx: Transaction, recovery: WebhookRecovery, size: number): Promise<WebhookRecovery | null> {
    const { tenantId, endpointId } = recovery;
    const [endpoint] = await this.endpoints.lockSubscribers(tx, [{ tenantId, id: endpointId }]);
    if (!endpoint) return { ...recovery, status: 'CANCELLED', finishedAt: new Date() };
    const { activation } = endpoint;
    const target = targetOf(endpoint, true);
    const enough = recovery.automatic ? ENOUGH_AUTOMATIC : ENOUGH_PENDING;
    const pending = await this.rounds.countRecovered(tx, target, activation, enough);
    if (pending === enough) return null;
    const { filter, since, cursor } = recovery;
    const isFirst = filter === null && cursor === idFloor(since!);
    // Only the recovery delivers events from before the activation. It first waits until they are all
    // committed, because it does not go back to an event below its cursor.
    if (isFirst && (await this.recoveries.isWriteUnderWay(tx, endpoint.activatedAt))) return null;
    const step = await this.source.readStep(tx, recovery, endpoint, cursor, size);
    const { rounds, next } = recovery.automatic
      ? oneOfEachConversation(step, cursor, await this.listBusy(tx, recovery), enough - pending)
      : beforeQueued(step, cursor);
    if (next === cursor && rounds.length === 0) return null;
    const made = rounds.length > 0 ? await this.insert(tx, recovery, endpoint, rounds) : 0;
    const recovered = recovery.recovered + made;
    // An automatic recovery is not counted beforehand.
    const counted = { total: recovered, isTotalComplete: next === null };
    return {
      ...recovery,
      ...(recovery.automatic && counted),
      recovered,
      cursor: next ?? cursor,
      status: next === null ? 'COMPLETED' : 'RUNNING',
      finishedAt: next === null ? new Date() : null,
    };
  }

  /** Lists the conversations that have a pending delivery of an automatic recovery. */
  private listBusy(tx: Transaction, { tenantId, id }: WebhookRecovery): Promise<string[]> {
    return this.rounds.listConversations(tx, tenantId, id, ENOUGH_AUTOMATIC);
  }

  /** Makes deliveries pending, in place of rows of an earlier activation. Returns how many it made. */
  private async insert(
    tx: Transaction,
    { tenantId, id: recoveryId, automatic }: WebhookRecovery,
    { activation, maySend, ...endpoint }: Subscriber,
    rounds: RecoveryRound[],
  ): Promise<number> {
    const ids = rounds.map(({ id }) => id);
    const former = await this.rounds.deleteFormer(tx, tenantId, ids, activation);
    this.outcomes.insertPipelined(
      tx,
      former.map((one) => ({ ...one, tenantId, status: 'CANCELLED' })),
    );
    if (maySend) tx.onCommit(() => this.wakeUps.wake(DELIVERY_QUEUE, [targetOf(endpoint, true)]));
    const due = rounds.map((round) => ({ ...round, activation }));
    return this.rounds.insertRecovered(tx, due, recoveryId, automatic !== null);
  }
}
