import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { Periodic } from '../../common/periodic';
import { OutboundMessageQueue } from './outbound-message.queue';
import { StaleMessages } from './stale-messages';
import { FIRST_POSITION, StaleMessagesRepository } from './stale-messages.repository';

const INTERVAL_MS = 1_000;
/** Steps of each search in one poll. The next poll goes on from there. */
const MAX_STEPS = 20;
/** A row that was written late, just before the time that the last poll looked at. */
const OVERLAP_MS = 2_000;

/**
 * Finds, every second, what needs attention among outbound messages: retries, leases and holds by their time, and step by
 * step everything else, as after a worker was killed or without Redis. So nothing depends on a wake-up.
 */
@Injectable()
export class OutboundMessagePoll implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(OutboundMessagePoll.name);
  private readonly polls = new Periodic(
    INTERVAL_MS,
    () => this.poll(),
    (error) => this.logger.error({ err: error }, 'the poll failed; it will be retried'),
  );
  private scheduledUntil = new Date(0);
  private duePosition = FIRST_POSITION;
  private stuckPosition = FIRST_POSITION;

  constructor(
    private readonly messages: StaleMessagesRepository,
    private readonly stale: StaleMessages,
    private readonly queue: OutboundMessageQueue,
  ) {}

  onApplicationBootstrap(): void {
    this.polls.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.polls.stop();
  }

  /** Wakes this process's own worker: a job would need Redis. */
  private async poll(): Promise<void> {
    await this.findScheduled();
    await this.findDue();
    await this.findStuck();
  }

  private async findScheduled(): Promise<void> {
    let since = new Date(Math.max(0, this.scheduledUntil.getTime() - OVERLAP_MS));
    for (let step = 0; step < MAX_STEPS; step++) {
      const { connections, ended, until, isLast } = await this.messages.findScheduled(since);
      this.queue.wake(connections);
      await this.stale.reconcile(ended);
      since = until;
      if (isLast) break;
    }
    this.scheduledUntil = since;
  }

  private async findDue(): Promise<void> {
    for (let step = 0; step < MAX_STEPS; step++) {
      const { due, inactive, ended, next } = await this.messages.findDue(this.duePosition);
      this.queue.wake(due);
      this.stale.failPendingOf(inactive);
      await this.stale.reconcile(ended);
      this.duePosition = next ?? FIRST_POSITION;
      if (next === null) return;
    }
  }

  private async findStuck(): Promise<void> {
    for (let step = 0; step < MAX_STEPS; step++) {
      const { stuck, next } = await this.messages.findStuck(this.stuckPosition);
      await this.stale.moveUp(stuck);
      this.stuckPosition = next ?? FIRST_POSITION;
      if (next === null) return;
    }
  }
}
