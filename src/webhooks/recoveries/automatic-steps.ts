import { Injectable } from '@nestjs/common';
import { Transaction } from '../../database/transaction';
import { StepOutcome } from '../../queue/polling/fair-items';
import { AutomaticDeliveries } from '../deliveries/automatic-deliveries';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { MAX_FAILED_IN_ROW } from '../endpoints/automatic-recovery';
import { AutomaticRounds } from './automatic-rounds';
import { RecoveryMaker } from './recovery-maker';
import { RecoveryTally } from './recovery-tally';
import { WebhookRecoveriesRepository } from './webhook-recoveries.repository';
import { WebhookRecovery } from './webhook-recovery';

/** Number of events of which one step of a round makes deliveries. */
const STEP = 500;

/** Makes the steps of probes and rounds: their deliveries become pending, and are counted when they end. */
@Injectable()
export class AutomaticSteps {
  constructor(
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly recoveries: WebhookRecoveriesRepository,
    private readonly deliveries: AutomaticDeliveries,
    private readonly tally: RecoveryTally,
    private readonly maker: RecoveryMaker,
    private readonly automatic: AutomaticRounds,
  ) {}

  /** Makes the next step of a locked probe or round. A round ends after ten failures in a row. */
  async makeStep(tx: Transaction, recovery: WebhookRecovery, size: number): Promise<StepOutcome> {
    const { tenantId, id, endpointId } = recovery;
    const isPresent = (await this.endpoints.findRecoveringId(tx, tenantId, endpointId)) === id;
    await this.deliveries.takeBack(tx, tenantId, id, !isPresent);
    const counted = await this.tally.countEnds(tx, recovery);
    const isFailing = !counted.isSettled && counted.failedInRow >= MAX_FAILED_IN_ROW;
    if (isPresent && isFailing) {
      await this.recoveries.advance(tx, toCancelled(counted));
      await this.automatic.end(tx, counted, false);
      return 'more';
    }
    if (!isPresent && counted.status === 'RUNNING') {
      await this.recoveries.advance(tx, toCancelled(counted));
      return 'more';
    }
    const made =
      counted.status === 'RUNNING' ? await this.maker.makeNext(tx, counted, Math.min(size, STEP)) : null;
    if (!made && counted === recovery) return 'waiting';
    if (counted.isSettled && counted.automatic === 'PROBE') await this.recoveries.delete(tx, counted);
    else await this.recoveries.advance(tx, made ?? counted);
    if (counted.isSettled) await this.automatic.end(tx, counted, hasSucceeded(counted));
    return made ? 'more' : 'done';
  }
}

function toCancelled(recovery: WebhookRecovery): WebhookRecovery {
  return { ...recovery, status: 'CANCELLED', finishedAt: new Date() };
}

function hasSucceeded({ status, recovered, succeeded }: WebhookRecovery): boolean {
  return status === 'COMPLETED' && succeeded === recovered;
}
