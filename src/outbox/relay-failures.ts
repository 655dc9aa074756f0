import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { isFaultOfData, isSameFault } from '../database/driver/database-errors';
import { OutboxConsumer } from './outbox.consumer';
import { ClaimedEvent } from './event-queue.repository';
import { Parking, RelayTurn, TurnPlan } from './relay-turn';

const RETRY_MS = 500;
/** Milliseconds between the two tries that must fail with the same error before an event is parked. */
const CONFIRM_AFTER_MS = 100;

/** Limit of the number of each workspace's events in its next transaction, and the pause before it. */
interface NextTurns {
  limit: number;
  delayMs: number;
}

type Cause = Omit<Parking, 'consumers'>;

/**
 * Decides how relaying continues after a failed transaction. If the data caused the error, each workspace of
 * the transaction gets transactions of its own. Each failure halves the number of events in them. An event
 * that fails even alone is parked.
 */
@Injectable()
export class RelayFailures {
  private readonly logger = new Logger(RelayFailures.name);

  constructor(private readonly turn: RelayTurn) {}

  async handle(
    consumers: OutboxConsumer[],
    { tenantIds, limit }: TurnPlan,
    error: Error,
  ): Promise<NextTurns> {
    const half = Math.max(1, Math.floor(limit / 2));
    if (!isFaultOfData(error)) return { limit: half, delayMs: this.backOff(tenantIds, error) };
    if (tenantIds.length > 1 || limit > 1) return { limit: half, delayMs: 0 };
    try {
      const cause = await this.confirm(consumers, tenantIds[0]!, error);
      if (cause) await this.park(consumers, tenantIds[0]!, cause);
      return { limit, delayMs: 0 };
    } catch (again) {
      return { limit, delayMs: this.backOff(tenantIds, again as Error) };
    }
  }

  /**
   * Relays the workspace's oldest event once more.
   * @returns the error and the event to park if the same error is thrown; null if the event is relayed now
   * @throws Error if it fails with a different error
   */
  private async confirm(consumers: OutboxConsumer[], tenantId: string, error: Error): Promise<Cause | null> {
    await sleep(CONFIRM_AFTER_MS);
    let eventId: string | null = null;
    const onClaimed = ([event]: ClaimedEvent[]) => (eventId = event?.id ?? null);
    try {
      await this.turn.relayEvents(consumers, { ...oldestOf(tenantId), onClaimed });
      return null;
    } catch (again) {
      if (isSameFault(again, error)) return { error, eventId };
      throw again;
    }
  }

  /** Parks an event for the one consumer that cannot process it, or for all if no single one is the cause. */
  private async park(consumers: OutboxConsumer[], tenantId: string, cause: Cause): Promise<void> {
    for (const suspects of [...consumers.map((one) => [one]), consumers]) {
      try {
        await this.turn.relayEvents(consumers, oldestOf(tenantId), { consumers: suspects, ...cause });
        return;
      } catch (again) {
        if (!isFaultOfData(again)) throw again;
      }
    }
    throw cause.error;
  }

  private backOff(tenantIds: string[], error: Error): number {
    this.logger.error({ err: error, workspaces: tenantIds.length }, 'relaying failed; it will be retried');
    return RETRY_MS;
  }
}

/** Returns a plan to relay a workspace's oldest event alone, even if its consumers are busy. */
function oldestOf(tenantId: string): TurnPlan {
  return { tenantIds: [tenantId], limit: 1, overdue: new Set([tenantId]) };
}
