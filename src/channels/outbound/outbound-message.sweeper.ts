import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { Periodic } from '../../common/periodic';
import { Metrics } from '../../metrics/metrics';
import { OutboundMessageQueue } from './outbound-message.queue';
import { StaleMessages } from './stale-messages';
import { UnroutedMessages } from './unrouted-messages';

const INTERVAL_MS = 2_000;
/** Only an upgrade leaves messages unrouted. */
const UNROUTED_INTERVAL_MS = 60_000;

/** Recovers after a killed worker, a lost wake-up, a wiped Redis. */
@Injectable()
export class OutboundMessageSweeper implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(OutboundMessageSweeper.name);
  private readonly sweeps = [
    new Periodic(
      INTERVAL_MS,
      () => this.sweep(),
      (error) => this.logFailure(error),
    ),
    new Periodic(
      UNROUTED_INTERVAL_MS,
      () => this.unrouted.route(),
      (error) => this.logFailure(error),
    ),
  ];

  constructor(
    private readonly stale: StaleMessages,
    private readonly unrouted: UnroutedMessages,
    private readonly queue: OutboundMessageQueue,
    private readonly metrics: Metrics,
  ) {}

  onApplicationBootstrap(): void {
    for (const sweep of this.sweeps) sweep.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.sweeps.map((sweep) => sweep.stop()));
  }

  private async sweep(): Promise<void> {
    const { connectionsToWake, outcomes } = await this.stale.reconcile();
    for (const { channel, outcome, count } of outcomes) {
      this.metrics.outboundMessages.inc({ channel, outcome }, count);
    }
    // With a job id of its own: the connection's ordinary job may belong to a dead worker.
    for (const connection of connectionsToWake.values()) this.queue.wakeIn(connection, 0);
  }

  private logFailure(error: Error): void {
    this.logger.error({ err: error }, 'the sweep failed; it will be retried');
  }
}
