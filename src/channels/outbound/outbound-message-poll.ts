import { Injectable, OnModuleInit } from '@nestjs/common';
import { Database } from '../../database/database';
import { ScheduleSearch, SteppedSearch } from '../../queue/polling/stepped-search';
import { BEFORE_ALL_MESSAGES, DueMessagesRepository } from './due-messages.repository';
import { OUTBOUND_MESSAGE_QUEUE } from './outbound-message-queue';
import { Polls } from '../../queue/polling/polls';
import { InjectWakeUps, WakeUpQueue } from '../../queue/wake-up-queue';
import { StaleMessageReconciler } from './stale-message-reconciler';

/** Limit of the steps of each search in one poll. */
const MAX_STEPS = 10;
/**
 * Ratio of the pause after a search for stuck conversations to its time. It reads all messages by their
 * conversations, and so every dead row that a snapshot keeps.
 */
const STUCK_PAUSE = 50;

/**
 * Finds, every second, which outbound messages need attention: retries, leases and holds by their time, and
 * step by step all others, as after a worker was killed or without Redis. So nothing depends on a wake-up.
 */
@Injectable()
export class OutboundMessagePoll implements OnModuleInit {
  private readonly scheduled = new ScheduleSearch(MAX_STEPS, async (since, place) => {
    const step = await this.messages.findScheduled(since, place);
    this.wakeUps.wake(step.connections);
    await this.stale.reconcile(step.ended);
    return step;
  });
  private readonly due = new SteppedSearch(BEFORE_ALL_MESSAGES, MAX_STEPS, async (after, place) => {
    const { due, inactive, ended, next } = await this.messages.findDue(after, place);
    this.wakeUps.wake(due);
    this.stale.failPending(inactive);
    await this.stale.reconcile(ended);
    return next;
  });
  private readonly stuck = new SteppedSearch(BEFORE_ALL_MESSAGES, MAX_STEPS, async (after, place) => {
    const { stuck, next } = await this.messages.findStuck(after, place);
    await this.stale.moveUp(stuck);
    return next;
  });

  /** Time of the next search for stuck conversations, on the monotonic clock. */
  private stuckAt = 0;

  constructor(
    private readonly database: Database,
    private readonly messages: DueMessagesRepository,
    private readonly stale: StaleMessageReconciler,
    @InjectWakeUps(OUTBOUND_MESSAGE_QUEUE) private readonly wakeUps: WakeUpQueue,
    private readonly polls: Polls,
  ) {}

  onModuleInit(): void {
    this.polls.register('scheduled messages', () => this.runSearch(this.scheduled));
    this.polls.register('due messages', () => this.runSearch(this.due));
    this.polls.register('stuck conversations', () => this.findStuck());
  }

  private async runSearch(
    search: OutboundMessagePoll['scheduled'] | OutboundMessagePoll['due'],
  ): Promise<void> {
    await search.run(await this.database.listPlaces());
  }

  private async findStuck(): Promise<void> {
    const startedAt = performance.now();
    if (startedAt < this.stuckAt) return;
    try {
      await this.runSearch(this.stuck);
    } finally {
      this.stuckAt = performance.now() + STUCK_PAUSE * (performance.now() - startedAt);
    }
  }
}
