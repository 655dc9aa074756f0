import { Injectable } from '@nestjs/common';
import { WorkRunner } from '../queue/polling/work-runner';
import { ConversationWriter } from './conversation-writer';
import { BEFORE_ALL_SNOOZES, SnoozesRepository } from './snoozes.repository';

/** Number of workspaces whose conversations are opened side by side, each over a connection of its own. */
const SIDE_BY_SIDE = 3;

/**
 * Opens conversations whose snooze has ended, each in a transaction of its own. Suspended workspaces have
 * their turns too: their conversations open on time, and the events wait.
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
