import { Injectable } from '@nestjs/common';
import { Transaction } from '../../database/transaction';
import { DeliveryHistoryRepository } from './delivery-history.repository';
import { DeliveryRoundsRepository } from './delivery-rounds.repository';
import { RecoveryOutcomesRepository } from './recovery-outcomes.repository';

/** Largest number of deliveries that one step takes back: more than a round has pending. */
const TAKEN_BACK = 500;

/** Takes deliveries of automatic recoveries back. */
@Injectable()
export class AutomaticDeliveries {
  constructor(
    private readonly rounds: DeliveryRoundsRepository,
    private readonly history: DeliveryHistoryRepository,
    private readonly outcomes: RecoveryOutcomesRepository,
  ) {}

  /**
   * Takes deliveries of a probe or round back that will not be sent, and counts them as cancelled. They are
   * those whose worker was killed during the attempt, and after the end of the recovery all the others.
   */
  async takeBack(tx: Transaction, tenantId: string, recoveryId: string, hasEnded: boolean): Promise<void> {
    const taken = await this.rounds.takeBack(tx, tenantId, recoveryId, hasEnded, TAKEN_BACK);
    if (taken.length === 0) return;
    this.history.insertCancelledPipelined(tx, taken);
    this.outcomes.insertPipelined(
      tx,
      taken.map(() => ({ tenantId, recoveryId, status: 'CANCELLED' })),
    );
  }
}
