import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { isFaultOfData, isSameFault } from '../database/driver/database-errors';
import { OutboxConsumer } from './outbox.consumer';
import { ClaimedEvent } from './event-queue.repository';
import { Parking, RelayTurn, TurnPlan } from './relay-turn';

const RETRY_MS = 500;
/** Time between the two tries that must fail alike before an event is parked. */
const CONFIRM_AFTER_MS = 100;

/** Limit of events of each workspace in its next turn, and the time until then in milliseconds. */
interface NextTurns {
  limit: number;
  delayMs: number;
}

type Cause = Omit<Parking, 'consumers'>;

/**
 * Decides how the workspaces of a turn go on after it has failed. After a fault of the data, each workspace
 * gets turns of its own with fewer and fewer events. At last the one event that cannot be relayed is parked.
 */
@Injectable()
export class RelayFailures {
  private readonly logger = new Logger(RelayFailures.name);

  constructor(private readonly turn: RelayTurn) {}

  /** Handles the failure of a turn, and returns the limits of the next turns of its workspaces. */
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
   * Relays the oldest event once more.
   * @returns the error and the event to park if it failed in the same way again; null if it is relayed now
   * @throws Error another failure
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

  /** Parks an event for the one consumer that can't take it in, or for all if no single one is the cause. */
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

/** Returns the plan of a turn for a workspace's oldest event, even if its consumers are busy. */
function oldestOf(tenantId: string): TurnPlan {
  return { tenantIds: [tenantId], limit: 1, overdue: new Set([tenantId]) };
}
