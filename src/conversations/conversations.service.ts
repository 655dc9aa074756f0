import { Injectable } from '@nestjs/common';
import { requirePermission, requireReadPermission } from '../access/require-permission';
import { AuditService } from '../audit/audit.service';
import { AppError } from '../common/app-error';
import { idTime, isId } from '../common/ids';
import { Page, PageQuery, toPage } from '../common/page';
import { Actor, SYSTEM } from '../access/principal';
import { validate } from '../common/validate';
import { ContactsService } from '../contacts/contacts.service';
import { Database } from '../database/database';
import {
  ActiveConversation,
  CountConversationsQuery,
  ListActiveConversationsQuery,
  toActiveConversation,
} from './active-conversation.dto';
import {
  ConversationDetail,
  ConversationResponse,
  ConversationRow,
  CreateConversation,
  ListConversationsQuery,
  NOBODY,
  toConversation,
  toConversationListItem,
  toConversationRow,
  UpdateConversation,
} from './conversation.dto';
import { ConversationChange, isConversationChange, toConversationChange } from './conversation-change';
import { ConversationListsRepository } from './conversation-lists.repository';
import { ConversationWriter } from './conversation-writer';
import { ConversationsRepository } from './conversations.repository';
import { ActivityFilter } from './list-statement';

/** Number of conversations whose customer waits, and the time since which the longest has waited. */
export interface WaitingCount {
  count: number;
  since: Date | null;
}

@Injectable()
export class ConversationsService {
  constructor(
    private readonly database: Database,
    private readonly conversations: ConversationsRepository,
    private readonly lists: ConversationListsRepository,
    private readonly contacts: ContactsService,
    private readonly writer: ConversationWriter,
    private readonly audit: AuditService,
  ) {}

  /**
   * Returns a page of conversations, newest first: 50 by default, 200 at most.
   * - With `sort: 'activity'` those with the latest activity come first.
   * - With `needsReply` it has those whose customer waits for a reply, the longest waiting first.
   * - A page before the last one may have fewer than `limit` conversations if an agent, a contact or a time
   *   is given, or a channel or status with `sort` or `needsReply`.
   * - With `sort`, a conversation that gets a message between two pages moves to the first page.
   * @throws AppError INVALID_QUERY, FORBIDDEN
   */
  async list(
    tenantId: string,
    input: Partial<ListConversationsQuery>,
    actor: Actor,
  ): Promise<Page<ConversationRow>> {
    const { limit, cursor, ...query } = validate(ListConversationsQuery, input, 'INVALID_QUERY');
    const { status, channel, assignedAgentId, contactId, updatedSince, needsReply, sort } = query;
    if (needsReply && sort) throw new AppError('INVALID_QUERY', 'Give needsReply or sort, not both.');
    await requireReadPermission(this.database, tenantId, actor, 'conversation.read');
    const others = [assignedAgentId, contactId, updatedSince, needsReply, sort];
    if (others.every((asked) => asked === undefined)) {
      const rows = await this.conversations.list(tenantId, { status, channel, cursor }, limit + 1);
      return toPage(rows, limit, toConversationListItem);
    }
    const agentId = assignedAgentId === NOBODY ? null : assignedAgentId;
    // An id in the wrong form belongs to no agent and no contact, so the list is empty.
    if ([agentId, contactId].some((id) => typeof id === 'string' && !isId(id)))
      return { data: [], nextCursor: null };
    const { rows, end } = await this.lists.find(
      tenantId,
      { status, channel, agentId, contactId, updatedSince },
      { order: needsReply ? 'waiting' : (sort ?? 'id'), cursor, count: limit + 1 },
    );
    if (contactId !== undefined && rows.length === 0) {
      const presentId = await this.contacts.findPresentId(tenantId, contactId);
      if (presentId !== contactId) return this.list(tenantId, { ...input, contactId: presentId }, actor);
    }
    const shown = rows.slice(0, limit);
    const data = shown.map(needsReply || sort ? toConversationRow : toConversationListItem);
    return { data, nextCursor: rows.length > limit ? shown.at(-1)!.position : end };
  }

  /**
   * Returns a page of the conversations with a status, latest activity first: 50 by default, 200 at most.
   * - The view `lost` has the newest 1,000 conversations with lost replies, of any status.
   * - The view `waiting` has those whose customer waits for a reply, the longest waiting first.
   * - If a channel is given, a page before the last one may have fewer than `limit` conversations.
   * - A conversation that gets a message between two pages moves to the first page, so a caller that reads
   *   several pages may get it twice.
   * @throws AppError INVALID_QUERY, FORBIDDEN
   */
  async listActive(
    tenantId: string,
    input: Partial<ListActiveConversationsQuery>,
    actor: Actor,
  ): Promise<Page<ActiveConversation>> {
    const { limit, view, ...query } = validate(ListActiveConversationsQuery, input, 'INVALID_QUERY');
    await requireReadPermission(this.database, tenantId, actor, 'conversation.read');
    const filter = toActivityFilter(query);
    if (!filter) return { data: [], nextCursor: null };
    if (view === 'lost') filter.ids ??= await this.lists.listLost(tenantId);
    if (view === 'waiting') filter.isWaiting = true;
    const rows = await this.lists.listActive(tenantId, filter, limit + 1);
    const shown = rows.slice(0, limit);
    const data = shown.filter(({ lost }) => view !== 'lost' || lost !== null).map(toActiveConversation);
    if (rows.length > limit) return { data, nextCursor: shown.at(-1)!.position };
    const isPart = filter.channel !== undefined && view !== 'lost';
    return { data, nextCursor: isPart ? await this.lists.findScannedEnd(tenantId, filter) : null };
  }

  /**
   * Counts a workspace's conversations with a status: of one agent, without an agent, or all. 1,001 stands
   * for more than 1,000.
   * @throws AppError INVALID_QUERY, FORBIDDEN
   */
  async count(tenantId: string, input: CountConversationsQuery, actor: Actor): Promise<number> {
    const query = validate(CountConversationsQuery, input, 'INVALID_QUERY');
    await requireReadPermission(this.database, tenantId, actor, 'conversation.read');
    const filter = toActivityFilter(query);
    return filter ? this.lists.count(tenantId, filter) : 0;
  }

  /**
   * Counts a workspace's conversations with lost replies; 1,001 stands for more than 1,000. A reply is lost
   * if it was not delivered or its delivery is unknown, and it was neither sent again nor dismissed. Closing
   * a conversation dismisses its lost replies.
   * @throws AppError FORBIDDEN
   */
  async countLost(tenantId: string, actor: Actor): Promise<number> {
    await requireReadPermission(this.database, tenantId, actor, 'conversation.read');
    return this.lists.countLost(tenantId);
  }

  /**
   * Counts a workspace's conversations whose customer waits for a reply; 1,001 stands for more than 1,000. A
   * reply ends the wait, also one that was not delivered, and so does closing or snoozing the conversation.
   * @returns the count, and the time since which the longest of them has waited; null if none does
   * @throws AppError FORBIDDEN
   */
  async countWaiting(tenantId: string, actor: Actor): Promise<WaitingCount> {
    await requireReadPermission(this.database, tenantId, actor, 'conversation.read');
    const { count, firstId } = await this.lists.countWaiting(tenantId);
    return { count, since: firstId === null ? null : idTime(firstId) };
  }

  /**
   * Returns a conversation with its contact.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async get(tenantId: string, id: string, actor: Actor): Promise<ConversationDetail> {
    await requireReadPermission(this.database, tenantId, actor, 'conversation.read');
    const conversation = await this.conversations.find(tenantId, id);
    if (!conversation) throw AppError.notFound('Conversation');
    const contact = await this.contacts.get(tenantId, conversation.contactId, SYSTEM);
    return { ...toConversation(conversation), contact };
  }

  /**
   * Returns a page of the changes of a conversation's status, agent and snooze, newest first: 50 by default,
   * 200 at most. The changes come from the audit log, without the IP addresses of their actors. A page may
   * have fewer changes than its limit, because audit entries of other kinds are left out.
   * @throws AppError INVALID_QUERY, FORBIDDEN, NOT_FOUND
   */
  async listChanges(
    tenantId: string,
    id: string,
    input: Partial<PageQuery>,
    actor: Actor,
  ): Promise<Page<ConversationChange>> {
    const query = validate(PageQuery, input, 'INVALID_QUERY');
    await requireReadPermission(this.database, tenantId, actor, 'conversation.read');
    if (!(await this.conversations.exists(tenantId, id))) throw AppError.notFound('Conversation');
    const { data, nextCursor } = await this.audit.list(tenantId, { ...query, entityId: id }, SYSTEM);
    return { data: data.filter(isConversationChange).map(toConversationChange), nextCursor };
  }

  /**
   * Opens a conversation with a contact over a channel, with its `conversation.created` event.
   * @throws AppError INVALID_BODY, NOT_FOUND (the contact)
   */
  async create(tenantId: string, input: CreateConversation): Promise<ConversationDetail> {
    const { contactId, channel } = validate(CreateConversation, input);
    const contact = await this.contacts.get(tenantId, contactId, SYSTEM);
    const partner = { tenantId, contactId: contact.id, sourceChannel: channel, identityExternalId: null };
    const conversation = await this.database.transaction((tx) => this.writer.open(tx, partner));
    return { ...toConversation(conversation), contact };
  }

  /**
   * Changes a conversation's status, its assigned agent and the end of its snooze.
   * - One `conversation.updated` event reports the call, unless only the end of the snooze changes.
   * - Values equal to the present ones change nothing and cause no event.
   * - A conversation that leaves SNOOZED loses the end of its snooze.
   * - An assignment to an agent other than the actor runs the functions in `ConversationWorks.handovers`.
   * @throws AppError INVALID_BODY (no field; an agent that is unknown, inactive or another workspace's; an
   *   end that is past, more than 366 days ahead, or of a conversation that is not snoozed), FORBIDDEN,
   *   NOT_FOUND
   */
  async update(
    tenantId: string,
    id: string,
    input: UpdateConversation,
    actor: Actor,
  ): Promise<ConversationResponse> {
    const changes = validate(UpdateConversation, input);
    const { status, assignedAgentId, snoozedUntil } = changes;
    if (status === undefined && assignedAgentId === undefined && snoozedUntil === undefined)
      throw new AppError('INVALID_BODY', 'Name at least one of status, assignedAgentId and snoozedUntil.');
    return this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'conversation.update');
      return toConversation(await this.writer.update(tx, tenantId, id, changes, actor));
    });
  }
}

/** Returns the filter of a list; null if no conversation can match, because the agent's id is malformed. */
function toActivityFilter({
  assignedAgentId,
  ids,
  ...rest
}: Omit<ListActiveConversationsQuery, 'limit'>): ActivityFilter | null {
  const others = { ...rest, ids: ids?.filter(isId) };
  if (assignedAgentId === NOBODY) return { ...others, agentId: null };
  if (assignedAgentId !== undefined && !isId(assignedAgentId)) return null;
  return { ...others, agentId: assignedAgentId };
}
