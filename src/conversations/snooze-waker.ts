import { Injectable } from '@nestjs/common';
import { WorkRunner } from '../queue/polling/work-runner';
import { ConversationWriter } from './conversation-writer';
import { BEFORE_ALL_SNOOZES, SnoozesRepository } from './snoozes.repository';

/** Number of workspaces that are processed at the same time. Each takes one database connection. */
const SIDE_BY_SIDE = 3;

/**
 * Reopens conversations whose snooze has ended, one transaction for each conversation. Conversations of
 * suspended workspaces reopen on time too, but their events are not sent during the suspension.
 */
@Injectable()
export class SnoozeWaker {
  constructor(runner: WorkRunner, snoozes: SnoozesRepository, conversations: ConversationWriter) {
    runner.register({
      name: 'snoozes',
      search: {
        first: BEFORE_ALL_SNOOZES,
        find: (after, server) => snoozes.findEnded(after, server),
      },
      sideBySide: SIDE_BY_SIDE,
      step: async (tx, snoozed) => {
        const conversation = await snoozes.lockEnded(tx, snoozed);
        if (!conversation) return 'waiting';
        await conversations.endSnooze(tx, conversation);
        return 'done';
      },
    });
  }
}
