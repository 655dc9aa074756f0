import { Injectable } from '@nestjs/common';
import { AlertWriter } from '../../alerts/alert-writer';
import { LOWEST_ID } from '../../common/ids';
import { WorkRunner } from '../../queue/polling/work-runner';
import {
  AlertPosition,
  SettledAlert,
  STEP_ROWS,
  UnknownRepliesRepository,
} from './unknown-replies.repository';

/** Opens alerts about replies whose delivery stays unknown, and resolves them once it does not. */
@Injectable()
export class UnknownReplies {
  constructor(runner: WorkRunner, replies: UnknownRepliesRepository, alerts: AlertWriter) {
    runner.register({
      name: 'unknown replies',
      search: {
        first: LOWEST_ID,
        find: async (after, server) => {
          const items = await replies.find(after, server);
          return { items, next: items.length < STEP_ROWS ? null : items.at(-1)!.id };
        },
      },
      step: async (tx, { tenantId, conversationId }) => {
        await alerts.open(tx, tenantId, 'REPLY_UNKNOWN', conversationId);
        return 'done';
      },
    });
    runner.register({
      name: 'settled replies',
      search: {
        first: [LOWEST_ID, LOWEST_ID] as AlertPosition,
        find: async (after, server) => {
          const items = await replies.findSettled(after, server);
          return { items, next: items.length < STEP_ROWS ? null : positionOf(items.at(-1)!) };
        },
      },
      step: async (tx, { tenantId, conversationId }) => {
        await alerts.resolve(tx, tenantId, ['REPLY_UNKNOWN'], conversationId);
        return 'done';
      },
    });
  }
}

function positionOf({ tenantId, conversationId }: SettledAlert): AlertPosition {
  return [tenantId, conversationId];
}
