import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { Periodic } from '../../common/periodic';
import { Metrics } from '../../metrics/metrics';
import { OutboundMessageQueue } from './outbound-message.queue';
import { StaleMessages } from './stale-messages';
import { UnroutedMessages } from './unrouted-messages';

const INTERVAL_MS = 2_000;
/** What is looked for then comes from an upgrade alone. */
const UNROUTED_INTERVAL_MS = 60_000;

/** Looks after what nobody does: after a killed worker, a lost wake-up, a wiped Redis, a hold that is over. */
@Injectable()
export class OutboundMessageSweeper implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(OutboundMessageSweeper.name);
  private readonly sweeps = [
    new Periodic(
      INTERVAL_MS,
      () => this.sweep(),
      (error) => this.report(error),
    ),
    new Periodic(
      UNROUTED_INTERVAL_MS,
      () => this.unrouted.route(),
      (error) => this.report(error),
    ),
  ];

  constructor(
    private readonly forgotten: StaleMessages,
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
    const { toWake, ended } = await this.forgotten.reconcile();
    for (const { channel, outcome, count } of ended) {
      this.metrics.outboundMessages.inc({ channel, outcome }, count);
    }
    // By jobs of their own: a connection's ordinary job may be held by a worker that is dead.
    for (const connectionId of toWake) this.queue.wakeIn(connectionId, 0);
  }

  private report(error: Error): void {
    this.logger.error({ err: error }, 'sweeping failed; it is tried again');
  }
}
