import { Injectable } from '@nestjs/common';
import { requirePermission } from '../access/require-permission';
import { AppError } from '../common/app-error';
import { isId } from '../common/ids';
import { Actor } from '../access/principal';
import { validate } from '../common/validate';
import { ConversationsRepository } from '../conversations/conversations.repository';
import { ConversationWorks } from '../conversations/conversation-works';
import { Database } from '../database/database';
import { EventlessChanges } from '../outbox/eventless-changes';
import { LostMessagesRepository } from './lost-messages.repository';
import { DismissMessage } from './message.dto';

@Injectable()
export class LostMessagesService {
  constructor(
    private readonly database: Database,
    private readonly conversations: ConversationsRepository,
    private readonly lost: LostMessagesRepository,
    private readonly changes: EventlessChanges,
    works: ConversationWorks,
  ) {
    works.closings.push((tx, conversation) => {
      this.lost.dismissAllPipelined(tx, conversation, new Date());
    });
  }

  /**
   * Dismisses a message if it is FAILED or UNKNOWN, so that it no longer counts as a lost reply.
   * @throws AppError INVALID_BODY, FORBIDDEN, NOT_FOUND (the conversation)
   */
  async dismiss(
    tenantId: string,
    conversationId: string,
    input: DismissMessage,
    actor: Actor,
  ): Promise<void> {
    const { messageId } = validate(DismissMessage, input);
    if (!isId(messageId)) throw AppError.invalidBody('messageId', 'wrong_form');
    await this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'conversation.update');
      if (!(await this.conversations.exists(tenantId, conversationId, tx)))
        throw AppError.notFound('Conversation');
      this.lost.dismissPipelined(tx, { tenantId, conversationId, messageId }, new Date());
      this.changes.note(tx, tenantId, { conversationId });
    });
  }
}
