import { InjectQueue } from '@nestjs/bull';
import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import type { Job, Queue } from 'bull';
import { Config } from '../config/config';
import { closeQueue } from '../redis/close-queue';
import { ClaimedDelivery } from './claimed-delivery';
import { DeliveryAttempter } from './delivery.attempter';
import { DELIVERY_QUEUE, DeliveryQueue, EndpointJob } from './delivery.queue';
import { DeliveryStore } from './delivery.store';

/** How long one endpoint is served before it queues up again behind the others. */
const TURN_MS = 5_000;

/**
 * Serves woken endpoints: claims what is due, up to the endpoint's cap, and sends it side by side. The database says
 * what is due and whose it is, so that any number of jobs, workers and repetitions do no harm.
 */
@Injectable()
export class DeliveryProcessor implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(DeliveryProcessor.name);
  /** Deliveries under way or being claimed in this process, by endpoint, whichever job started them. */
  private readonly underWay = new Map<string, number>();
  /** The jobs that run now. */
  private readonly serving = new Set<Promise<void>>();
  private stopping = false;

  constructor(
    @InjectQueue(DELIVERY_QUEUE) private readonly bull: Queue<EndpointJob>,
    private readonly config: Config,
    private readonly store: DeliveryStore,
    private readonly attempter: DeliveryAttempter,
    private readonly queue: DeliveryQueue,
  ) {}

  onApplicationBootstrap(): void {
    this.bull.on('error', (error: Error) => this.logger.warn({ err: error }, 'the queue has no Redis'));
    this.bull.on('failed', ({ data }: Job<EndpointJob>, error: Error) =>
      this.logger.error(
        { err: error, ...data },
        'an endpoint was not served; the sweeper will come back to it',
      ),
    );
    // Only now is the job gone: a wake-up that came while it was active has added nothing.
    this.bull.on('completed', ({ data }: Job<EndpointJob>) => void this.wakeIfDue(data.endpointId));
    this.bull
      .process(this.config.webhookConcurrency, ({ data }) => this.run(data.endpointId))
      .catch((error: Error) => this.logger.error({ err: error }, 'the queue has stopped'));
  }

  /** Lets what is under way come to its end, and takes nothing new. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    await closeQueue(this.bull, this.serving);
  }

  private run(endpointId: string): Promise<void> {
    const serving = this.serve(endpointId).finally(() => this.serving.delete(serving));
    this.serving.add(serving);
    return serving;
  }

  private async serve(endpointId: string): Promise<void> {
    const turnEnds = Date.now() + TURN_MS;
    const own = new Set<Promise<void>>();
    while (!this.stopping && Date.now() < turnEnds) {
      const room = this.roomOf(endpointId);
      // Another job of this endpoint fills the cap: waiting for it would hold a place that others need.
      if (room <= 0 && own.size === 0) return;
      if (room > 0) {
        const claimed = await this.claim(endpointId, room);
        for (const delivery of claimed) this.launch(delivery, own);
        if (claimed.length < room) break;
      }
      await Promise.race(own);
    }
    await Promise.all(own);
  }

  /** Takes the room before it claims, so that two jobs of one endpoint can't both fill it. */
  private async claim(endpointId: string, room: number): Promise<ClaimedDelivery[]> {
    this.take(endpointId, room);
    let claimed: ClaimedDelivery[] = [];
    try {
      claimed = await this.store.claim(endpointId, room);
      return claimed;
    } finally {
      this.take(endpointId, claimed.length - room);
    }
  }

  /** Sends a claimed delivery, which has its room already. */
  private launch(delivery: ClaimedDelivery, own: Set<Promise<void>>): void {
    const attempt = this.attempt(delivery).finally(() => {
      own.delete(attempt);
      this.take(delivery.endpointId, -1);
    });
    own.add(attempt);
  }

  private take(endpointId: string, places: number): void {
    const taken = (this.underWay.get(endpointId) ?? 0) + places;
    if (taken > 0) this.underWay.set(endpointId, taken);
    else this.underWay.delete(endpointId);
  }

  private async attempt(delivery: ClaimedDelivery): Promise<void> {
    const { id: deliveryId, endpointId, tenantId } = delivery;
    try {
      const { retryDelayMs } = await this.attempter.attempt(delivery);
      if (retryDelayMs !== null) this.queue.wakeIn(endpointId, retryDelayMs);
    } catch (error) {
      // Our own fault, not the receiver's: it costs no attempt, and the lease's end brings the delivery back.
      this.logger.error(
        { err: error as Error, tenantId, endpointId, deliveryId },
        'an attempt could not be made',
      );
    }
  }

  private roomOf(endpointId: string): number {
    return this.config.webhookEndpointConcurrency - (this.underWay.get(endpointId) ?? 0);
  }

  /** At the cap there is nothing to wake for: the job whose deliveries fill it asks again when it is gone. */
  private async wakeIfDue(endpointId: string): Promise<void> {
    if (this.stopping || this.roomOf(endpointId) <= 0) return;
    try {
      if (await this.store.hasDue(endpointId)) this.queue.wake([endpointId]);
    } catch (error) {
      this.logger.warn(
        { err: error as Error, endpointId },
        'not looked whether more is due; the sweeper will',
      );
    }
  }
}
