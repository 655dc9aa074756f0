import { Injectable } from '@nestjs/common';
import { isKeyWith, requirePermission, requireReadPermission } from '../access/require-permission';
import { AppError } from '../common/app-error';
import { isId, LOWEST_ID, successor } from '../common/ids';
import { Page, PageQuery, toPage } from '../common/page';
import { Actor, actorIdOf } from '../access/principal';
import { validate } from '../common/validate';
import { ConversationEntity } from '../conversations/conversation.entity';
import { ConversationsRepository } from '../conversations/conversations.repository';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { ConversationKey } from '../database/tables/table-declaration';
import { IdempotencyService } from '../idempotency/idempotency.service';
import { IdempotentRequest } from '../idempotency/idempotent-request';
import { AgentEntity } from '../workspaces/agent.entity';
import { AgentsRepository } from '../workspaces/agents.repository';
import { AttachmentWriter } from '../attachments/attachment-writer';
import { AttachmentEntity } from '../attachments/attachment.entity';
import { AttachmentsRepository } from '../attachments/attachments.repository';
import { describeFiles } from './described-files';
import { requireWithinLimit } from './body-limits';
import {
  ReceiveMessage,
  SendMessage,
  SendReply,
  MessageResponse,
  SentReplyResponse,
  toMessage,
  toMessageWithFirstBody,
  toPartMessage,
  ListMessagesQuery,
  ListMessagesPartQuery,
  MessagesPart,
} from './message.dto';
import { MessageWriter } from './message-writer';
import { ListedMessage, MessagesRepository } from './messages.repository';

@Injectable()
export class MessagesService {
  constructor(
    private readonly database: Database,
    private readonly messages: MessagesRepository,
    private readonly conversations: ConversationsRepository,
    private readonly agents: AgentsRepository,
    private readonly writer: MessageWriter,
    private readonly idempotency: IdempotencyService,
    private readonly attachments: AttachmentsRepository,
    private readonly attachmentWriter: AttachmentWriter,
  ) {}

  /**
   * Returns a page of a conversation's messages, newest first: 50 by default, 200 at most. With `include:
   * 'firstBody'` each message has the text that it had before its first edit.
   * @throws AppError INVALID_QUERY, FORBIDDEN, NOT_FOUND
   */
  async list(
    tenantId: string,
    conversationId: string,
    input: Partial<ListMessagesQuery>,
    actor: Actor,
  ): Promise<Page<MessageResponse>> {
    const { include, ...query } = validate(ListMessagesQuery, input, 'INVALID_QUERY');
    await requireReadPermission(this.database, tenantId, actor, 'conversation.read');
    return this.readPage(tenantId, conversationId, query, include ? toMessageWithFirstBody : toMessage);
  }

  /**
   * Returns some of a conversation's messages, newest first: 50 by default, 200 at most. These are the newest
   * ones, those older than `cursor`, those newer than `after`, or those around the message `around`. At most
   * one of these three parameters may be given.
   * @throws AppError INVALID_QUERY, FORBIDDEN, NOT_FOUND
   */
  async listPart(
    tenantId: string,
    conversationId: string,
    input: Partial<ListMessagesPartQuery>,
    actor: Actor,
  ): Promise<MessagesPart> {
    const { around, after, ...older } = validate(ListMessagesPartQuery, input, 'INVALID_QUERY');
    const bounds = [around, after, older.cursor].filter((bound) => bound !== undefined);
    if (bounds.length > 1)
      throw new AppError('INVALID_QUERY', 'Give one of cursor, after and around at most.');
    await requireReadPermission(this.database, tenantId, actor, 'conversation.read');
    if (around === undefined && after === undefined) {
      const page = await this.readPage(tenantId, conversationId, older, toPartMessage);
      return { ...page, previousCursor: null };
    }
    if (!isId(conversationId)) throw AppError.notFound('Conversation');
    const key = { tenantId, conversationId };
    const newerCount = around === undefined ? older.limit : Math.floor(older.limit / 2);
    // The older half includes the message `around` itself.
    const olderCount = older.limit - newerCount;
    const newer = await this.messages.listFrom(key, bounds[0]!, newerCount + 1);
    const rows =
      around === undefined
        ? []
        : await this.messages.list(tenantId, conversationId, successor(around), olderCount + 1);
    if (rows.length + newer.length === 0 && !(await this.conversations.exists(tenantId, conversationId)))
      throw AppError.notFound('Conversation');
    const shown = [...newer.slice(0, newerCount).reverse(), ...rows.slice(0, olderCount)];
    const hasOlder = around === undefined || rows.length > olderCount;
    const attached = await this.listAttached(key, shown);
    return {
      data: shown.map((message) => toPartMessage(message, attached.get(message.id))),
      nextCursor: hasOlder ? (shown.at(-1)?.id ?? null) : null,
      previousCursor: newer.length > newerCount ? (shown[0]?.id ?? null) : null,
    };
  }

  /**
   * Counts a workspace's messages that wait to be sent; 1,001 stands for more than 1,000.
   * @throws AppError FORBIDDEN
   */
  async countWaiting(tenantId: string, actor: Actor): Promise<number> {
    await requireReadPermission(this.database, tenantId, actor, 'conversation.read');
    return this.messages.countWaiting(tenantId);
  }

  /**
   * Sends a message to the customer: stores it as QUEUED, with its `message.created` event.
   * - The sender is the actor, if the actor is an agent. Any other actor may name an active agent; by default
   *   the sender is the oldest active OWNER or ADMIN.
   * - A conversation without an agent is assigned to the actor, if the actor is an agent.
   * - If the actor is an agent and names the newest message that it had seen, the call is refused if another
   *   sender has answered since.
   * - A message that repeats a lost one dismisses the lost one, and has its files again.
   * @throws AppError INVALID_BODY (the body, the channel's limit, the sender, the seen message, a message to
   *   repeat that is in another conversation, or neither FAILED nor UNKNOWN), FORBIDDEN (an agent that names
   *   another one as the sender), NOT_FOUND, CONFLICT (another sender has answered), IDEMPOTENCY_CONFLICT
   */
  async send(
    tenantId: string,
    conversationId: string,
    input: SendReply,
    actor: Actor,
    request: IdempotentRequest | null = null,
  ): Promise<SentReplyResponse> {
    // A SendMessage comes from the API, which does not accept the further fields of a SendReply.
    const dto = input instanceof SendMessage && !(input instanceof SendReply) ? SendMessage : SendReply;
    const {
      body,
      attachments = [],
      senderAgentId,
      seenMessageId,
      repeatsId,
    } = validate<SendReply>(dto, input);
    if (actor.type === 'agent' && (senderAgentId ?? actor.id) !== actor.id)
      throw AppError.because('FORBIDDEN', 'only_as_itself');
    if (repeatsId === undefined && attachments.length === 0 && isKeyWith(actor, 'message.send')) {
      const key = { tenantId, conversationId };
      const message = await this.writer.sendUnlocked(key, body, senderAgentId, request);
      if (message) return { message: toMessage(message) };
    }
    return this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'message.send');
      return this.idempotency.once(tx, { tenantId, conversationId }, request, async () => {
        // Both statements are sent in one packet. PostgreSQL runs them in order, so the lock comes first.
        const [conversation, sender] = await Promise.all([
          this.conversations.lock(tx, tenantId, conversationId),
          this.findSender(tx, tenantId, actor, senderAgentId),
        ]);
        if (!conversation) throw AppError.notFound('Conversation');
        const files =
          attachments.length === 0
            ? []
            : await this.attachmentWriter.lockUploads(
                tx,
                { tenantId, conversationId },
                attachments,
                conversation.sourceChannel,
                actorIdOf(actor),
              );
        const repeated =
          repeatsId === undefined || files.length > 0
            ? []
            : await this.listRepeated(tx, { tenantId, conversationId }, repeatsId);
        const text = (body as string | undefined) ?? describeFiles(files);
        const isDescribed = body === undefined || (repeated.length > 0 && body === describeFiles(repeated));
        // A description is not sent.
        if (!isDescribed) requireWithinLimit(conversation.sourceChannel, text);
        for (const [n, { caption = '' }] of attachments.entries())
          requireWithinLimit(conversation.sourceChannel, caption, `attachments[${n}].caption`);
        if (!sender)
          throw AppError.invalidBody(
            'senderAgentId',
            senderAgentId === undefined ? 'sender_missing' : 'agent_unknown',
          );
        if (seenMessageId !== undefined && actor.type === 'agent')
          await this.requireNoOtherAnswer(tx, conversation, seenMessageId ?? LOWEST_ID, actor.id);
        const content = {
          senderAgentId: sender.id,
          body: text,
          repeatsId: repeatsId ?? null,
          attachmentCount: files.length + repeated.length,
          isDescribed,
        };
        const { message, ...assignment } = await this.writer.send(tx, conversation, content, actor);
        const attached =
          files.length === 0
            ? this.attachmentWriter.attachAgain(tx, message, repeated)
            : await this.attachmentWriter.attachUploads(tx, message, files, attachments);
        return { message: toMessage(message, attached), ...assignment };
      });
    });
  }

  /**
   * Stores a customer's message, and reopens a closed or snoozed conversation.
   * @throws AppError INVALID_BODY, NOT_FOUND
   */
  async receive(tenantId: string, conversationId: string, input: ReceiveMessage): Promise<MessageResponse> {
    const { body } = validate(ReceiveMessage, input);
    return this.database.transaction(async (tx) => {
      const conversation = await this.conversations.lock(tx, tenantId, conversationId);
      if (!conversation) throw AppError.notFound('Conversation');
      return toMessage(await this.writer.receive(tx, conversation, { body, metadata: null }));
    });
  }

  /**
   * Refuses an agent's reply if another sender has answered in the locked conversation after the message
   * `seenMessageId`. So of two agents who reply at once, one is refused.
   * @throws AppError INVALID_BODY, CONFLICT
   */
  private async requireNoOtherAnswer(
    tx: Transaction,
    { tenantId, id: conversationId, lastMessageId }: ConversationEntity,
    seenMessageId: string,
    agentId: string,
  ): Promise<void> {
    if (!isId(seenMessageId)) throw AppError.invalidBody('seenMessageId', 'wrong_form');
    if (lastMessageId === null || lastMessageId <= seenMessageId) return;
    const conversation = { tenantId, conversationId };
    if (await this.messages.hasOtherAnswer(tx, conversation, seenMessageId, agentId))
      throw AppError.because('CONFLICT', 'colleague_replied');
  }

  private async readPage<Item>(
    tenantId: string,
    conversationId: string,
    { cursor, limit }: PageQuery,
    toItem: (message: ListedMessage, attached?: AttachmentEntity[]) => Item,
  ): Promise<Page<Item>> {
    if (!isId(conversationId)) throw AppError.notFound('Conversation');
    const rows = await this.messages.list(tenantId, conversationId, cursor, limit + 1);
    // The look-up is needed only for an empty page, because a conversation that has messages exists.
    if (rows.length === 0 && !(await this.conversations.exists(tenantId, conversationId)))
      throw AppError.notFound('Conversation');
    const attached = await this.listAttached({ tenantId, conversationId }, rows);
    return toPage(rows, limit, (message) => toItem(message, attached.get(message.id)));
  }

  private async listRepeated(
    tx: Transaction,
    key: ConversationKey,
    repeatsId: string,
  ): Promise<AttachmentEntity[]> {
    if (!isId(repeatsId)) return [];
    return (await this.attachments.listOfMessages(key, [repeatsId], tx)).get(repeatsId) ?? [];
  }

  /** Lists the attachments of messages, by message. Costs a statement only if a message has any. */
  private listAttached(
    key: ConversationKey,
    messages: ListedMessage[],
  ): Promise<Map<string, AttachmentEntity[]>> {
    const ids = messages.filter(({ attachmentCount }) => attachmentCount > 0).map(({ id }) => id);
    return this.attachments.listOfMessages(key, ids);
  }

  private async findSender(
    tx: Transaction,
    tenantId: string,
    actor: Actor,
    senderAgentId: string | undefined,
  ): Promise<Pick<AgentEntity, 'id'> | null> {
    if (actor.type === 'agent') return actor;
    if (senderAgentId === undefined) return this.agents.findFirstManager(tx, tenantId);
    return this.agents.findActive(tx, tenantId, senderAgentId);
  }
}
