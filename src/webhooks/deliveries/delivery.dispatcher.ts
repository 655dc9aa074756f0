import { Injectable, Logger } from '@nestjs/common';
import { Config } from '../../config/config';
import { Metrics } from '../../metrics/metrics';
import { AttemptFollowUp } from './attempt.follow-up';
import { ClaimedDelivery } from './claimed-delivery';
import { DeliveryAttempter } from './delivery.attempter';
import { DeliveryClaimer } from './delivery.claimer';
import { DeliveryRoom } from './delivery-room';

/**
 * Serves one endpoint for a turn: claims what is due, as far as there is room, and starts sending it side by side. A
 * turn waits for no receiver, so that a slow one holds up neither other endpoints nor its own next wake-up.
 */
@Injectable()
export class DeliveryDispatcher {
  private readonly logger = new Logger(DeliveryDispatcher.name);
  private readonly room: DeliveryRoom;
  /** Turns and attempts that have not ended. */
  private readonly active = new Set<Promise<void>>();
  private stopping = false;

  constructor(
    config: Config,
    private readonly claimer: DeliveryClaimer,
    private readonly attempter: DeliveryAttempter,
    private readonly followUp: AttemptFollowUp,
    private readonly metrics: Metrics,
  ) {
    this.room = new DeliveryRoom(config.webhookConcurrency, config.webhookEndpointConcurrency);
  }

  hasRoom(endpointId: string): boolean {
    return !this.claimer.isPaused(endpointId) && this.room.of(endpointId) > 0;
  }

  /** Settles when everything that may be started is started. */
  serve(endpointId: string): Promise<void> {
    return this.track(this.takeTurn(endpointId));
  }

  /** Takes nothing new; settles when all that is under way is recorded. */
  async drain(): Promise<void> {
    this.stopping = true;
    while (this.active.size > 0) await Promise.allSettled(this.active);
  }

  private async takeTurn(endpointId: string): Promise<void> {
    while (!this.stopping && this.hasRoom(endpointId)) {
      const room = this.room.of(endpointId);
      const claimed = await this.claim(endpointId, room);
      for (const delivery of claimed) void this.track(this.deliver(delivery));
      if (claimed.length < room) return;
    }
    this.room.miss(endpointId);
  }

  /** Takes the room before it claims, so that two turns of one endpoint can't both fill it. */
  private async claim(endpointId: string, count: number): Promise<ClaimedDelivery[]> {
    this.room.take(endpointId, count);
    let claimed: ClaimedDelivery[] = [];
    try {
      claimed = await this.claimer.claim(endpointId, count);
      return claimed;
    } finally {
      this.room.free(endpointId, count - claimed.length);
    }
  }

  /** Carries a claimed delivery through. It has its room already, and makes it free for whoever has missed some. */
  private async deliver(delivery: ClaimedDelivery): Promise<void> {
    const { id: deliveryId, endpointId, tenantId } = delivery;
    this.metrics.webhooksUnderWay.inc();
    try {
      await this.followUp.after(await this.attempter.attempt(delivery));
    } catch (error) {
      // Our own fault, not the receiver's: it costs no attempt, and the lease's end brings the delivery back.
      this.logger.error(
        { err: error as Error, tenantId, endpointId, deliveryId },
        'a delivery was not carried through',
      );
    } finally {
      this.metrics.webhooksUnderWay.dec();
      this.room.free(endpointId, 1);
      this.followUp.wake(this.room.takeMissed(endpointId));
    }
  }

  private track(work: Promise<void>): Promise<void> {
    const tracked = work.finally(() => this.active.delete(tracked));
    this.active.add(tracked);
    return tracked;
  }
}
