import { Injectable } from '@nestjs/common';
import { Transaction } from '../../database/transaction';
import { StepOutcome } from '../../queue/polling/fair-items';
import { WorkRunner } from '../../queue/polling/work-runner';
import {
  AutomaticKey,
  AutomaticRecoveriesRepository,
  BEFORE_ALL_AUTOMATIC,
} from '../endpoints/automatic-recoveries.repository';
import { beginProbing, nextStepOf, stop } from '../endpoints/automatic-recovery';
import { AutomaticRounds } from './automatic-rounds';

/** Moves the state of each endpoint that has missed events, one step a transaction. */
@Injectable()
export class AutomaticRunner {
  constructor(
    runner: WorkRunner,
    private readonly states: AutomaticRecoveriesRepository,
    private readonly automatic: AutomaticRounds,
  ) {
    runner.register({
      name: 'automatic recoveries',
      search: { first: BEFORE_ALL_AUTOMATIC, find: (after, server) => states.findDue(after, server) },
      step: (tx, key) => this.makeStep(tx, key),
    });
  }

  private async makeStep(tx: Transaction, { tenantId, endpointId }: AutomaticKey): Promise<StepOutcome> {
    const locked = await this.automatic.lock(tx, tenantId, endpointId);
    if (!locked) return 'done';
    const { endpoint, recovery } = locked;
    if (!endpoint.active) {
      // An endpoint that the service has deactivated for its failures waits for its owner to activate it.
      if (endpoint.deactivationReason !== 'failing') await this.states.delete(tx, tenantId, endpointId);
      else await this.states.save(tx, { ...recovery, state: 'MISSING', recoveryId: null, dueAt: null });
      return 'done';
    }
    const now = new Date(await tx.readClock());
    const next = nextStepOf(recovery, endpoint.lastSuccessAt, now);
    if (next === 'begin') await this.automatic.settle(tx, locked, beginProbing(recovery, now));
    if (next === 'probe') await this.automatic.probe(tx, locked, now);
    if (next === 'recover') await this.automatic.startRound(tx, locked, now);
    if (next === 'stop') await this.automatic.settle(tx, locked, stop(recovery, 'days'));
    return 'done';
  }
}
