import { Injectable, Logger } from '@nestjs/common';
import { Transaction } from '../database/transaction';
import { isFaultOfData } from '../database/driver/database-errors';
import { Database } from '../database/database';
import { BEFORE_ALL_DUE } from '../queue/polling/due-position';
import { StepOutcome } from '../queue/polling/fair-items';
import { WorkRunner } from '../queue/polling/work-runner';
import { EventsRepository } from './events.repository';
import { OutboxRelay } from './outbox-relay';
import { ParkedEventKey, ParkedEventsRepository } from './parked-events.repository';

/** Carries out operators' requests for parked events: retries an event for its consumer, or gives it up. */
@Injectable()
export class ParkedEventsWorker {
  private readonly logger = new Logger(ParkedEventsWorker.name);

  constructor(
    runner: WorkRunner,
    private readonly database: Database,
    private readonly events: EventsRepository,
    private readonly parked: ParkedEventsRepository,
    private readonly relay: OutboxRelay,
  ) {
    runner.registerFree({
      name: 'parked events',
      search: { first: BEFORE_ALL_DUE, find: (after, server) => parked.findRequested(after, server) },
      step: (key) => this.work(key),
    });
  }

  private async work(key: ParkedEventKey): Promise<StepOutcome> {
    try {
      return await this.database.queueTransaction((tx) => this.carryOut(tx, key));
    } catch (error) {
      if (!isFaultOfData(error)) throw error;
      this.logger.error({ err: error as Error, ...key }, 'a parked event failed; it is parked again');
      await this.parked.recordFailure(key, (error as Error).message);
      return 'done';
    }
  }

  private async carryOut(tx: Transaction, key: ParkedEventKey): Promise<StepOutcome> {
    const consumer = this.relay.findConsumer(key.consumer);
    if (!consumer) throw new Error(`There is no consumer ${key.consumer}`);
    const parked = await this.parked.takeRequested(tx, key);
    if (!parked) return 'waiting';
    const [event] = await this.events.find(tx, key.tenantId, [key.eventId]);
    if (event && parked.request === 'GIVE_UP') await consumer.giveUp?.(tx, event);
    if (event && parked.request === 'RETRY') {
      const consume = await consumer.prepareConsumer(tx, [key.tenantId]);
      const { queuedAt } = parked;
      const work = await consume(tx, [{ ...event, queuedAt, leaseId: null, wasLeased: true, result: null }]);
      await work.write?.(tx);
      tx.onCommit(() => work.end?.(true));
    }
    return 'done';
  }
}
