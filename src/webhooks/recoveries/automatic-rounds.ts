import { Injectable } from '@nestjs/common';
import { idFloor, newId } from '../../common/ids';
import { Transaction } from '../../database/transaction';
import { DeliveryRoundsRepository } from '../deliveries/delivery-rounds.repository';
import { WebhookEndpoint } from '../endpoints/webhook-endpoint';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { AutomaticRecoveriesRepository } from '../endpoints/automatic-recoveries.repository';
import {
  AutomaticRecovery,
  beginRound,
  endRound,
  failProbe,
  sendProbe,
} from '../endpoints/automatic-recovery';
import { AutomaticReports } from './automatic-reports';
import { planProbe, planRound } from './recovery-plan';
import { RecoverySource } from './recovery-source';
import { WebhookRecoveriesRepository } from './webhook-recoveries.repository';
import { WebhookRecovery } from './webhook-recovery';

/** Number of events among which one call looks for the oldest missed event. */
const SEARCHED = 500;

/** Milliseconds after which a round is tried again that waits for a recovery which a person has started. */
const WAIT_MS = 5_000;

/** Endpoint and its state, both locked. */
export interface LockedState {
  endpoint: WebhookEndpoint;
  recovery: AutomaticRecovery;
}

/** Begins and ends the probes and rounds of automatic recoveries, and stores the state that follows. */
@Injectable()
export class AutomaticRounds {
  constructor(
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly states: AutomaticRecoveriesRepository,
    private readonly recoveries: WebhookRecoveriesRepository,
    private readonly source: RecoverySource,
    private readonly rounds: DeliveryRoundsRepository,
    private readonly reports: AutomaticReports,
  ) {}

  /** Locks an endpoint and its state. Returns null if one of them does not exist any more. */
  async lock(tx: Transaction, tenantId: string, endpointId: string): Promise<LockedState | null> {
    const endpoint = await this.endpoints.lockQuietly(tx, tenantId, endpointId);
    const recovery = await this.states.lock(tx, tenantId, endpointId);
    if (recovery && !endpoint?.recoversSince) await this.states.delete(tx, tenantId, endpointId);
    return recovery && endpoint?.recoversSince ? { endpoint, recovery } : null;
  }

  /** Sends the oldest missed event once. If no event is missed any more, a round begins, and ends at once. */
  async probe(tx: Transaction, { endpoint, recovery }: LockedState, now: Date): Promise<void> {
    const { since } = recovery;
    const plan = planProbe(endpoint, since, now);
    const from = recovery.cursor ?? idFloor(since);
    const { rounds, next } = await this.source.readStep(tx, plan, endpoint, from, SEARCHED);
    const oldest = rounds.find(({ isQueued }) => !isQueued);
    if (!oldest && next !== null) return this.states.save(tx, { ...recovery, cursor: next, dueAt: now });
    if (!oldest) return this.startRound(tx, { endpoint, recovery }, now);
    const { activation } = endpoint;
    const made = await this.rounds.insertRecovered(tx, [{ ...oldest, activation }], plan.id, true);
    // The delivery became pending meanwhile, by a person's act: it counts as a probe that has failed.
    if (made === 0) return this.settle(tx, { endpoint, recovery }, failProbe(recovery, now));
    await this.recoveries.insert(tx, plan);
    await this.endpoints.setRecovering(tx, endpoint, plan.id);
    await this.states.save(tx, sendProbe(recovery, plan.id));
    this.reports.noteProbe(tx);
  }

  /** Starts a round, unless three rounds have ended, or another recovery of the endpoint is running. */
  async startRound(tx: Transaction, { endpoint, recovery }: LockedState, now: Date): Promise<void> {
    const { tenantId, endpointId, since } = recovery;
    const round = planRound(endpoint, since, now);
    const begun = beginRound(recovery, round.id);
    if (begun.state === 'STOPPED') return this.settle(tx, { endpoint, recovery }, begun);
    if (await this.recoveries.isRunning(tx, tenantId, endpointId)) {
      const dueAt = new Date(now.getTime() + WAIT_MS);
      return this.states.save(tx, { ...recovery, recoveryId: null, dueAt });
    }
    await this.recoveries.insert(tx, round);
    await this.endpoints.setRecovering(tx, endpoint, round.id);
    await this.states.save(tx, begun);
    await this.reports.noteStart(tx, endpoint, begun, round.id);
  }

  /**
   * Ends a probe or a round, and stores the state that follows. Nothing changes if it is not the present one.
   * @param hasSucceeded whether all of its deliveries have succeeded
   */
  async end(tx: Transaction, ended: WebhookRecovery, hasSucceeded: boolean): Promise<void> {
    const { tenantId, endpointId, id } = ended;
    const locked = await this.lock(tx, tenantId, endpointId);
    await this.endpoints.endRecovering(tx, tenantId, endpointId, id);
    if (locked?.recovery.recoveryId !== id) return;
    const now = new Date(await tx.readClock());
    if (ended.automatic === 'ROUND')
      return this.settle(tx, locked, endRound(locked.recovery, hasSucceeded, now), ended);
    if (hasSucceeded) return this.startRound(tx, locked, now);
    return this.settle(tx, locked, failProbe(locked.recovery, now));
  }

  /** Stores a state, and records the end of a recovery. A healthy endpoint has no state: null. */
  async settle(
    tx: Transaction,
    { endpoint, recovery }: LockedState,
    after: AutomaticRecovery | null,
    round: WebhookRecovery | null = null,
  ): Promise<void> {
    // While the endpoint is probed, each success is stored at once, as it ends the probing.
    await this.endpoints.setRecovering(tx, endpoint, after?.state === 'PROBING' ? newId() : null);
    if (after) await this.states.save(tx, after);
    else await this.states.delete(tx, recovery.tenantId, recovery.endpointId);
    if (!after) await this.reports.noteFinish(tx, endpoint, recovery, round);
    else if (after.state === 'STOPPED') await this.reports.noteStop(tx, endpoint, after);
  }
}
