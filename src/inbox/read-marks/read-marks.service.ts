import { Injectable } from '@nestjs/common';
import { requirePermission, requireReadPermission } from '../../access/require-permission';
import { AppError } from '../../common/app-error';
import { isId, LOWEST_ID } from '../../common/ids';
import { MAX_LIMIT } from '../../common/page';
import { Actor, agentOf } from '../../access/principal';
import { validate } from '../../common/validate';
import { ConversationEntity } from '../../conversations/conversation.entity';
import { ConversationsRepository } from '../../conversations/conversations.repository';
import { ConversationWorks } from '../../conversations/conversation-works';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { ChangedReadMark, EventlessChanges } from '../../outbox/eventless-changes';
import { AgentKey } from '../../database/tables/table-declaration';
import { MarkRead, Unread } from './read-mark.dto';
import { ReadMarksRepository } from './read-marks.repository';

/**
 * Stores how far agents have read, and finds the conversations that an agent has not read.
 * - A conversation that is not closed is unread if its customer has written since the agent last read or
 *   wrote. Only its newest 20 messages count.
 * - A conversation is also unread after the agent has marked it, or after it was handed over to the agent.
 * - For an actor that is no agent, all conversations are read.
 * - All open inboxes of the agent are notified of each change.
 */
@Injectable()
export class ReadMarksService {
  constructor(
    private readonly database: Database,
    private readonly marks: ReadMarksRepository,
    private readonly conversations: ConversationsRepository,
    private readonly changes: EventlessChanges,
    works: ConversationWorks,
  ) {
    works.handovers.push(async (tx, agent, conversationId) => {
      await this.marks.setUnread(tx, agent, conversationId);
      this.note(tx, agent, { conversationId, isUnread: true, isHandedOver: true });
    });
  }

  /**
   * Returns the ids of the conversations that the actor has not read, among up to 200 given ones.
   * @throws AppError INVALID_QUERY, FORBIDDEN
   */
  async listUnread(tenantId: string, conversationIds: string[], actor: Actor): Promise<string[]> {
    const agentId = await this.requireReader(tenantId, actor);
    if (conversationIds.length > MAX_LIMIT)
      throw new AppError('INVALID_QUERY', `Name at most ${MAX_LIMIT} conversations.`);
    const ids = conversationIds.filter(isId);
    return agentId && ids.length > 0 ? this.marks.listUnread({ tenantId, agentId }, ids) : [];
  }

  /**
   * Counts the open conversations that the actor has not read, and lists the latest five. Reads only the
   * actor's 200 open conversations with the latest activity, and 200 without an agent.
   * @throws AppError FORBIDDEN
   */
  async getUnread(tenantId: string, actor: Actor): Promise<Unread> {
    const agentId = await this.requireReader(tenantId, actor);
    return agentId ? this.marks.readUnread({ tenantId, agentId }) : { count: 0, latest: [] };
  }

  /**
   * Records that the actor has read a conversation up to a message, or up to its newest message if
   * `messageId` is newer. A mark never moves back to an older message.
   * @throws AppError INVALID_BODY, FORBIDDEN, NOT_FOUND
   */
  async markRead(tenantId: string, conversationId: string, input: MarkRead, actor: Actor): Promise<void> {
    const { messageId } = validate(MarkRead, input);
    if (!isId(messageId)) throw AppError.invalidBody('messageId', 'message_unknown');
    await this.change(tenantId, conversationId, actor, async (tx, agent, { lastMessageId }) => {
      // A mark after the newest message would hide the customer's next message.
      const newest = lastMessageId ?? LOWEST_ID;
      const read = messageId < newest ? messageId : newest;
      if (await this.marks.advance(tx, agent, conversationId, read))
        this.note(tx, agent, { conversationId, isUnread: false });
    });
  }

  /**
   * Marks a conversation as unread for the actor, until the actor reads it again.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async markUnread(tenantId: string, conversationId: string, actor: Actor): Promise<void> {
    await this.change(tenantId, conversationId, actor, async (tx, agent) => {
      if (await this.marks.setUnread(tx, agent, conversationId))
        this.note(tx, agent, { conversationId, isUnread: true });
    });
  }

  private async requireReader(tenantId: string, actor: Actor): Promise<string | null> {
    await requireReadPermission(this.database, tenantId, actor, 'conversation.read');
    return agentOf(actor);
  }

  private note(
    tx: Transaction,
    { tenantId, agentId }: AgentKey,
    mark: Omit<ChangedReadMark, 'agentId'>,
  ): void {
    this.changes.note(tx, tenantId, { readMark: { agentId, ...mark } });
  }

  private async change(
    tenantId: string,
    conversationId: string,
    actor: Actor,
    work: (tx: Transaction, agent: AgentKey, conversation: ConversationEntity) => Promise<void>,
  ): Promise<void> {
    const conversation = await this.conversations.find(tenantId, conversationId);
    await this.database.transaction(async (tx) => {
      // A mark does not change the conversation, so the permission to read suffices.
      await requirePermission(tx, tenantId, actor, 'conversation.read');
      if (!conversation) throw AppError.notFound('Conversation');
      const agentId = agentOf(actor);
      if (agentId !== null) await work(tx, { tenantId, agentId }, conversation);
    });
  }
}
