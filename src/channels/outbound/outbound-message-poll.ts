import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database';
import { SteppedSearch } from '../../queue/polling/searches';
import { BEFORE_ALL_MESSAGES, DueMessagesRepository } from './due-messages.repository';
import { OUTBOUND_MESSAGE_QUEUE } from './claimed-message';
import { Polls } from '../../queue/polling/polls';
import { WakeUps } from '../../queue/wake-ups';
import { StaleMessageReconciler } from './stale-message-reconciler';

/**
 * The pause after a search for conversations in which every message waits is this many times as long as the
 * search. The search reads the whole queue, so it would load the database if it ran every second.
 */
const STUCK_PAUSE = 50;

/** Searches every second for outbound messages that a worker must handle, in case a wake-up was lost. */
@Injectable()
export class OutboundMessagePoll {
  private readonly stuck: SteppedSearch<typeof BEFORE_ALL_MESSAGES>;
  /** Time of the next search for conversations in which every message waits (`performance.now()`). */
  private stuckAt = 0;

  constructor(
    messages: DueMessagesRepository,
    stale: StaleMessageReconciler,
    wakeUps: WakeUps,
    polls: Polls,
    database: Database,
  ) {
    polls.searchSchedule('scheduled messages', async (since, server) => {
      const step = await messages.findScheduled(since, server);
      wakeUps.wake(OUTBOUND_MESSAGE_QUEUE, step.connections);
      await stale.reconcile(step.ended);
      return step;
    });
    polls.search('due messages', BEFORE_ALL_MESSAGES, async (after, server) => {
      const { due, inactive, ended, next } = await messages.findDue(after, server);
      wakeUps.wake(OUTBOUND_MESSAGE_QUEUE, due);
      stale.failPending(inactive);
      await stale.reconcile(ended);
      return next;
    });
    this.stuck = new SteppedSearch(database, BEFORE_ALL_MESSAGES, async (after, server) => {
      const { stuck, next } = await messages.findStuck(after, server);
      await stale.moveUp(stuck);
      return next;
    });
    polls.register('stuck conversations', () => this.findStuck());
  }

  private async findStuck(): Promise<void> {
    const startedAt = performance.now();
    if (startedAt < this.stuckAt) return;
    try {
      await this.stuck.run();
    } finally {
      this.stuckAt = performance.now() + STUCK_PAUSE * (performance.now() - startedAt);
    }
  }
}
