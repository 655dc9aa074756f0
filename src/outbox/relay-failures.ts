import { Injectable, Logger } from '@nestjs/common';
import { isFaultOfData } from '../database/database-errors';
import { OutboxConsumer } from './outbox.consumer';
import { RelayTurn, TurnPlan } from './relay-turn';

const RETRY_MS = 500;

/** Limit of events of each workspace in its next turn, and the time until then in milliseconds. */
interface NextTurns {
  limit: number;
  delayMs: number;
}

/**
 * Decides what follows when a turn fails. After a fault of the data, each workspace of the turn gets turns of
 * its own with fewer and fewer events, until the one event that can't be relayed is parked.
 */
@Injectable()
export class RelayFailures {
  private readonly logger = new Logger(RelayFailures.name);

  constructor(private readonly turn: RelayTurn) {}

  /** Handles the failure of a turn, and returns what its workspaces' next turns may be. */
  async handle(
    consumers: OutboxConsumer[],
    { tenantIds, limit }: TurnPlan,
    error: Error,
  ): Promise<NextTurns> {
    const half = Math.max(1, Math.floor(limit / 2));
    if (!isFaultOfData(error)) return { limit: half, delayMs: this.backOff(tenantIds, error) };
    if (tenantIds.length > 1 || limit > 1) return { limit: half, delayMs: 0 };
    try {
      await this.parkOldest(consumers, tenantIds[0]!, error);
      return { limit, delayMs: 0 };
    } catch (again) {
      return { limit, delayMs: this.backOff(tenantIds, again as Error) };
    }
  }

  /**
   * Parks the oldest event for the one consumer that can't take it in, or for all if no single consumer is
   * the cause.
   */
  private async parkOldest(consumers: OutboxConsumer[], tenantId: string, error: Error): Promise<void> {
    for (const suspects of [...consumers.map((one) => [one]), consumers]) {
      try {
        await this.turn.run(consumers, { tenantIds: [tenantId], limit: 1 }, { consumers: suspects, error });
        return;
      } catch (again) {
        if (!isFaultOfData(again)) throw again;
      }
    }
    throw error;
  }

  private backOff(tenantIds: string[], error: Error): number {
    this.logger.error({ err: error, workspaces: tenantIds.length }, 'relaying failed; it will be retried');
    return RETRY_MS;
  }
}
