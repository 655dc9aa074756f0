import { Injectable, Logger, OnModuleInit } from '@nestjs/common';
import { idFloor, LOWEST_ID } from '../../common/ids';
import { StepRounds } from '../../common/step-rounds';
import { Database } from '../../database/database';
import { DatabaseClock } from '../../database/database-clock';
import { Place, PlacedWork } from '../../database/places';
import { Transaction } from '../../database/transaction';
import { Polls } from '../../database/polls';
import { InjectWakeUps, WakeUpQueue } from '../../queue/wake-up-queue';
import { DueDeliveriesRepository } from '../deliveries/due-deliveries.repository';
import { DELIVERY_QUEUE, targetOf } from '../deliveries/delivery';
import { NO_FAILURE, PendingDeliveriesRepository } from '../deliveries/pending-deliveries.repository';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { beforeQueued, RecoverySource } from './recovery-source';
import { RecoveryKey, WebhookRecoveriesRepository } from './webhook-recoveries.repository';
import { WebhookRecoveryEntity } from './webhook-recovery.entity';

/** Number of events or deliveries of one step. */
const STEP = 1_000;
/** Number of an endpoint's pending recovered deliveries above which its recovery adds none. */
const ENOUGH_PENDING = 2_000;

/**
 * Runs recoveries in small steps. Deliveries and progress commit together, so that another
 * worker continues the recovery of a killed one.
 */
@Injectable()
export class RecoveryRunner implements OnModuleInit {
  private readonly logger = new Logger(RecoveryRunner.name);
  private readonly rounds = new StepRounds<RecoveryKey>({
    size: STEP,
    pauseMs: 0,
    list: () => this.listNext(),
    keyOf: ({ id }) => id,
    step: (key, size) => this.runStep(key, size),
    onError: ({ tenantId, id: recoveryId }, err, deliveries) =>
      this.logger.error(
        { err, tenantId, recoveryId, deliveries },
        'a step of a recovery failed; it will be retried',
      ),
  });
  private readonly searches = new PlacedWork<RecoveryKey[]>();
  /** Last recovery of the last list of each place, by the place's name. The next list begins after it. */
  private readonly lastIds = new Map<string, string>();

  constructor(
    private readonly database: Database,
    private readonly recoveries: WebhookRecoveriesRepository,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly source: RecoverySource,
    private readonly pending: PendingDeliveriesRepository,
    private readonly due: DueDeliveriesRepository,
    @InjectWakeUps(DELIVERY_QUEUE) private readonly wakeUps: WakeUpQueue,
    private readonly clock: DatabaseClock,
    private readonly polls: Polls,
  ) {}

  onModuleInit(): void {
    this.polls.register('recoveries', () =>
      this.rounds.run(() => this.polls.isStopped || !this.clock.isTrusted),
    );
  }

  private async listNext(): Promise<RecoveryKey[]> {
    const places = await this.database.listPlaces();
    return (await this.searches.run(places, (place) => this.listIn(place))).flat();
  }

  private async listIn(place: Place): Promise<RecoveryKey[]> {
    const running = await this.recoveries.listRunning(place, this.lastIds.get(place.name) ?? LOWEST_ID);
    const last = running.at(-1);
    if (last) this.lastIds.set(place.name, last.id);
    return running;
  }

  /**
   * Runs one step of a recovery.
   * @returns whether there was anything to do; false too while another worker runs a step of it
   */
  private runStep(key: RecoveryKey, size: number): Promise<boolean> {
    return this.database.queueTransaction(async (tx) => {
      const recovery = await this.recoveries.lockRunning(tx, key);
      const after = recovery && (await this.step(tx, recovery, size));
      if (!after) return false;
      await this.recoveries.advance(tx, after);
      return true;
    });
  }

  /**
   * Makes the next deliveries of a recovery pending.
   * @returns the recovery's new row; null while enough deliveries are pending, or while the recovery must
   *   wait for the relay, or for events from before it that are not committed
   */
  private async step(
    tx: Transaction,
    recovery: WebhookRecoveryEntity,
    size: number,
  ): Promise<WebhookRecoveryEntity | null> {
    const { tenantId, endpointId } = recovery;
    const [endpoint] = await this.endpoints.lockSubscribers(tx, [{ tenantId, id: endpointId }]);
    if (!endpoint) return { ...recovery, status: 'CANCELLED', finishedAt: new Date() };
    const { activation } = endpoint;
    const target = targetOf(endpoint, true);
    if ((await this.due.countRecovered(tx, target, activation, ENOUGH_PENDING)) === ENOUGH_PENDING)
      return null;
    const { filter, since, cursor } = recovery;
    const isFirst = filter === null && cursor === idFloor(since!);
    // An event that was queued before the activation is not delivered live: none may commit behind the
    // cursor.
    if (isFirst && (await this.recoveries.isWriteUnderWay(tx, endpoint.activatedAt))) return null;
    const step = await this.source.step(tx, recovery, endpoint, cursor, size);
    const { rounds, next } = beforeQueued(step, cursor);
    if (next === cursor) return null;
    if (rounds.length > 0) {
      const recovered = { activation, attemptCount: 0, recovered: true, delayMs: 0, ...NO_FAILURE };
      this.pending.insertPipelined(
        tx,
        rounds.map((round) => ({ ...round, ...recovered })),
      );
      if (endpoint.maySend) tx.onCommit(() => this.wakeUps.wake([target]));
    }
    return {
      ...recovery,
      recovered: recovery.recovered + rounds.length,
      cursor: next ?? cursor,
      status: next === null ? 'COMPLETED' : 'RUNNING',
      finishedAt: next === null ? new Date() : null,
    };
  }
}
