import { Injectable } from '@nestjs/common';
import { LOWEST_ID } from '../../common/ids';
import { Transaction } from '../../database/transaction';
import { StepOutcome } from '../../queue/polling/fair-items';
import { WorkRunner } from '../../queue/polling/work-runner';
import { AutomaticSteps } from './automatic-steps';
import { RecoveryMaker } from './recovery-maker';
import { RecoveryTally } from './recovery-tally';
import { RecoveryKey, WebhookRecoveriesRepository } from './webhook-recoveries.repository';

const STEP = 1_000;
/** Pause after a step, so that steps for many small recoveries leave time for new events. */
const PAUSE_MS = 5;

/** Runs recoveries until all deliveries that they made have ended. */
@Injectable()
export class RecoveryRunner {
  constructor(
    runner: WorkRunner,
    private readonly recoveries: WebhookRecoveriesRepository,
    private readonly tally: RecoveryTally,
    private readonly maker: RecoveryMaker,
    private readonly automatic: AutomaticSteps,
  ) {
    runner.register({
      name: 'recoveries',
      search: { first: LOWEST_ID, find: (after, server) => recoveries.findUnsettled(after, server) },
      size: STEP,
      pauseMs: PAUSE_MS,
      step: (tx, key, size) => this.makeStep(tx, key, size),
    });
  }

  /**
   * Counts the recovery's deliveries that have ended, and makes its next ones pending. It returns `waiting`
   * if it has changed nothing, or another worker has locked the recovery.
   */
  private async makeStep(tx: Transaction, key: RecoveryKey, size: number): Promise<StepOutcome> {
    const recovery = await this.recoveries.lockUnsettled(tx, key);
    if (!recovery) return 'waiting';
    if (recovery.automatic) return this.automatic.makeStep(tx, recovery, size);
    const counted = await this.tally.countEnds(tx, recovery);
    const made = recovery.status === 'RUNNING' ? await this.maker.makeNext(tx, counted, size) : null;
    if (!made && counted === recovery) return 'waiting';
    await this.recoveries.advance(tx, made ?? counted);
    return made ? 'more' : 'done';
  }
}
