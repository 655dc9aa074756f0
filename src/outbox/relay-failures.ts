import { Injectable, Logger } from '@nestjs/common';
import { isFaultOfData } from '../database/database-errors';
import { OutboxConsumer } from './outbox.consumer';
import { RelayTurn, TurnPlan } from './relay-turn';

/** Number of events of one workspace that one turn relays at most. */
const MAX_EVENTS = 100;
const RETRY_MS = 500;

/**
 * Decides what follows when a turn fails. After a fault of the data, each workspace of the turn gets turns of
 * its own with fewer and fewer events, until the one event that can't be relayed is parked.
 */
@Injectable()
export class RelayFailures {
  private readonly logger = new Logger(RelayFailures.name);
  /** Limits of events a turn, by workspace, that are below MAX_EVENTS because a recent turn has failed. */
  private readonly shrunkTo = new Map<string, number>();

  constructor(private readonly turn: RelayTurn) {}

  /** Returns how many events of a workspace a turn may relay. */
  limitOf(tenantId: string): number {
    return this.shrunkTo.get(tenantId) ?? MAX_EVENTS;
  }

  /** Reports whether a recent turn of a workspace has failed. */
  hasFailed(tenantId: string): boolean {
    return this.shrunkTo.has(tenantId);
  }

  /** Notes that a workspace's turn has succeeded: the next one may be larger again. */
  recordSuccess(tenantId: string): void {
    const limit = this.shrunkTo.get(tenantId);
    if (limit === undefined) return;
    if (limit * 2 < MAX_EVENTS) this.shrunkTo.set(tenantId, limit * 2);
    else this.shrunkTo.delete(tenantId);
  }

  /**
   * Handles the failure of a turn.
   * @returns the time after which its workspaces may have their next turns, in milliseconds
   */
  async handle(consumers: OutboxConsumer[], { tenantIds, limit }: TurnPlan, error: Error): Promise<number> {
    const isOfData = isFaultOfData(error);
    if (isOfData && tenantIds.length === 1 && limit === 1) {
      return this.parkOldest(consumers, tenantIds[0]!, error).catch((again: Error) =>
        this.backOff(tenantIds, again),
      );
    }
    for (const id of tenantIds) this.shrunkTo.set(id, Math.max(1, Math.floor(limit / 2)));
    return isOfData ? 0 : this.backOff(tenantIds, error);
  }

  /**
   * Parks the oldest event for the one consumer that can't take it in, or for all if no single consumer is
   * the cause.
   */
  private async parkOldest(consumers: OutboxConsumer[], tenantId: string, error: Error): Promise<number> {
    for (const suspects of [...consumers.map((one) => [one]), consumers]) {
      try {
        await this.turn.run(consumers, { tenantIds: [tenantId], limit: 1 }, { consumers: suspects, error });
        return 0;
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
