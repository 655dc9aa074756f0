import { Injectable, Logger } from '@nestjs/common';
import { isFaultOfData } from '../database/driver/database-errors';
import { Database } from '../database/database';
import { EventsRepository } from './events.repository';
import { OutboxRelay } from './outbox-relay';
import { ParkedEvent, ParkedEventsRepository } from './parked-events.repository';

/**
 * Carries out the operators' requests for parked events: retries an event for its consumer, or gives it up.
 */
@Injectable()
export class ParkedEventsWorker {
  private readonly logger = new Logger(ParkedEventsWorker.name);

  constructor(
    private readonly database: Database,
    private readonly events: EventsRepository,
    private readonly parked: ParkedEventsRepository,
    private readonly relay: OutboxRelay,
  ) {}

  async work(): Promise<void> {
    for (const event of await this.parked.findRequested()) {
      try {
        await this.workOn(event);
      } catch (error) {
        const { tenantId, eventId, consumer, request } = event;
        this.logger.error(
          { err: error as Error, tenantId, eventId, consumer, request },
          'a parked event failed',
        );
        if (isFaultOfData(error)) await this.parked.recordFailure(event, (error as Error).message);
        else await this.parked.postpone(event);
      }
    }
  }

  private workOn(parked: ParkedEvent): Promise<void> {
    const { tenantId, eventId, queuedAt, request } = parked;
    const consumer = this.relay.findConsumer(parked.consumer);
    if (!consumer) throw new Error(`There is no consumer ${parked.consumer}`);
    return this.database.queueTransaction(async (tx) => {
      if (!(await this.parked.deleteIfFree(tx, parked))) return;
      const [event] = await this.events.find(tx, tenantId, [eventId]);
      if (!event) return;
      if (request === 'GIVE_UP') return consumer.giveUp?.(tx, event);
      const prepared = await consumer.prepareConsumer(tx, [tenantId]);
      // Without a lease, because the event is not in the queue.
      await prepared.consume([{ ...event, queuedAt, leaseId: null, wasLeased: true }], null);
    });
  }
}
