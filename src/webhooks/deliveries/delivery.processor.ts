import { InjectQueue } from '@nestjs/bull';
import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import type { Job, Queue } from 'bull';
import { closeQueue } from '../../redis/close-queue';
import { DeliveryDispatcher } from './delivery.dispatcher';
import { DELIVERY_QUEUE, DeliveryQueue, EndpointJob } from './delivery.queue';
import { DeliveryStore } from './delivery.store';

/** Turns are short: they claim and start, and never wait for a receiver. */
const TURNS_AT_ONCE = 20;

/**
 * Serves the endpoints that are woken. The database says what is due and whose it is, so that any number of jobs,
 * workers and repetitions do no harm.
 */
@Injectable()
export class DeliveryProcessor implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(DeliveryProcessor.name);
  private stopping = false;

  constructor(
    @InjectQueue(DELIVERY_QUEUE) private readonly bull: Queue<EndpointJob>,
    private readonly dispatcher: DeliveryDispatcher,
    private readonly store: DeliveryStore,
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
      .process(TURNS_AT_ONCE, ({ data }) => this.dispatcher.serve(data.endpointId))
      .catch((error: Error) => this.logger.error({ err: error }, 'the queue has stopped'));
  }

  /** Lets what is under way come to its end, and takes nothing new. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    await closeQueue(this.bull, [this.dispatcher.drain()]);
  }

  /** Where there is no room there is nothing to wake for: whichever delivery makes room will ask. */
  private async wakeIfDue(endpointId: string): Promise<void> {
    if (this.stopping || !this.dispatcher.hasRoom(endpointId)) return;
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
