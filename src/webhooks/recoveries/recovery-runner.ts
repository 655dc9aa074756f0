import { Injectable, Logger, OnModuleInit } from '@nestjs/common';
import { LOWEST_ID } from '../../common/ids';
import { StepRounds } from '../../queue/polling/step-rounds';
import { Database } from '../../database/database';
import { Polls } from '../../queue/polling/polls';
import { SteppedSearch } from '../../queue/polling/searches';
import { RecoveryMaker } from './recovery-maker';
import { RecoveryTally } from './recovery-tally';
import { RecoveryKey, WebhookRecoveriesRepository } from './webhook-recoveries.repository';

/** Number of events or deliveries of one step. */
const STEP = 1_000;

/**
 * Runs recoveries in small steps, until all deliveries that they made have ended. Deliveries, their ends and
 * progress commit together, so that another worker continues the recovery of a killed one.
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
  private readonly search: SteppedSearch<string>;
  /** Recoveries that the latest search has found. */
  private found: RecoveryKey[] = [];

  constructor(
    private readonly database: Database,
    private readonly recoveries: WebhookRecoveriesRepository,
    private readonly tally: RecoveryTally,
    private readonly maker: RecoveryMaker,
    private readonly polls: Polls,
  ) {
    this.search = new SteppedSearch(database, LOWEST_ID, async (after, server) => {
      const { unsettled, next } = await this.recoveries.findUnsettled(after, server);
      this.found.push(...unsettled);
      return next;
    });
  }

  onModuleInit(): void {
    this.polls.register('recoveries', () => this.rounds.run(() => this.polls.areHeld));
  }

  private async listNext(): Promise<RecoveryKey[]> {
    this.found = [];
    await this.search.run();
    return this.found;
  }

  /**
   * Runs one step of a recovery: counts deliveries that have ended, and makes the next ones pending.
   * @returns whether it looked for some; false too while another worker runs a step of it
   */
  private runStep(key: RecoveryKey, size: number): Promise<boolean> {
    return this.database.queueTransaction(async (tx) => {
      const recovery = await this.recoveries.lockUnsettled(tx, key);
      if (!recovery) return false;
      const counted = await this.tally.countEnds(tx, recovery);
      const made = recovery.status === 'RUNNING' ? await this.maker.makeNext(tx, counted, size) : null;
      if (made || counted !== recovery) await this.recoveries.advance(tx, made ?? counted);
      return made !== null;
    });
  }
}
