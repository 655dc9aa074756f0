import { Injectable } from '@nestjs/common';
import { WorkRunner } from '../queue/polling/work-runner';
import { ConversationWriter } from './conversation-writer';
import { BEFORE_ALL_SNOOZES, SnoozesRepository } from './snoozes.repository';

/** Number of workspaces whose conversations are reopened at the same time, each over its own connection. */
const SIDE_BY_SIDE = 3;

/**
 * Reopens conversations whose snooze has ended, each in its own transaction. Those in suspended workspaces
 * reopen on time; only their events wait.
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
