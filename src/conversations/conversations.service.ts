import { Injectable } from '@nestjs/common';
import { requirePermission, requireReadPermission } from '../access/require-permission';
import { AuditService } from '../audit/audit.service';
import { changedValues } from '../audit/changed-values';
import { AppError } from '../common/app-error';
import { isId, newId } from '../common/ids';
import { Page, PageQuery, toPage } from '../common/page';
import { Actor, agentOf, SYSTEM } from '../access/principal';
import { validate } from '../common/validate';
import { ContactsService } from '../contacts/contacts.service';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { OutboxService } from '../outbox/outbox.service';
import { AgentsRepository } from '../workspaces/agents.repository';
import {
  ActiveConversation,
  CountConversationsQuery,
  CreateConversation,
  ListActiveConversationsQuery,
  ListConversationsQuery,
  NOBODY,
  UpdateConversation,
  ConversationDetail,
  ConversationResponse,
  ConversationRow,
  toActiveConversation,
  toConversation,
  toConversationDetail,
  toConversationListItem,
  toConversationRow,
} from './conversation.dto';
import {
  ASSIGNED,
  ConversationChange,
  isConversationChange,
  STATUS_ACTIONS,
  toConversationChange,
} from './conversation-change';
import { ConversationEntity, ConversationStatus, endOfSnooze } from './conversation.entity';
import { ConversationListsRepository } from './conversation-lists.repository';
import { ActivityFilter, ConversationPartner, ConversationsRepository } from './conversations.repository';
import { ConversationWorks } from './conversation-works';
import { SnoozedConversation } from './snoozes.repository';

/** Values that a call changed, and no others. */
type Change = Partial<Pick<ConversationEntity, 'status' | 'assignedAgentId' | 'snoozedUntil'>>;

@Injectable()
export class ConversationsService {
  constructor(
    private readonly database: Database,
    private readonly conversations: ConversationsRepository,
    private readonly lists: ConversationListsRepository,
    private readonly contacts: ContactsService,
    private readonly agents: AgentsRepository,
    private readonly works: ConversationWorks,
    private readonly outbox: OutboxService,
    private readonly audit: AuditService,
  ) {}

  /**
   * Returns a page of conversations, newest first, or by latest activity: 50 by default, 200 at most. With an
   * agent, a contact or a time, or by latest activity on a channel, a page may be short before the last one.
   * A conversation that gets a message between two pages by activity moves to the top.
   * @throws AppError INVALID_QUERY, FORBIDDEN
   */
  async list(
    tenantId: string,
    input: Partial<ListConversationsQuery>,
    actor: Actor,
  ): Promise<Page<ConversationRow>> {
    const { limit, cursor, ...query } = validate(ListConversationsQuery, input, 'INVALID_QUERY');
    const { status, channel, assignedAgentId, contactId, updatedSince, sort } = query;
    await requireReadPermission(this.database, tenantId, actor, 'conversation.read');
    if ([assignedAgentId, contactId, updatedSince, sort].every((asked) => asked === undefined)) {
      const rows = await this.conversations.list(tenantId, { status, channel, cursor }, limit + 1);
      return toPage(rows, limit, toConversationListItem);
    }
    const agentId = assignedAgentId === NOBODY ? null : assignedAgentId;
    // Nobody has such an id.
    if ([agentId, contactId].some((id) => typeof id === 'string' && !isId(id)))
      return { data: [], nextCursor: null };
    const { rows, end } = await this.lists.find(
      tenantId,
      { status, channel, agentId, contactId, updatedSince },
      { order: sort ?? 'id', cursor, count: limit + 1 },
    );
    if (contactId !== undefined && rows.length === 0) {
      const presentId = await this.contacts.findPresentId(tenantId, contactId);
      if (presentId !== contactId) return this.list(tenantId, { ...input, contactId: presentId }, actor);
    }
    const shown = rows.slice(0, limit);
    const data = shown.map(sort === 'activity' ? toConversationRow : toConversationListItem);
    return { data, nextCursor: rows.length > limit ? shown.at(-1)!.position : end };
  }

  /**
   * Returns a page of the conversations with a status, the one with the latest activity first: 50 by default,
   * 200 at most. The view of those with lost replies has the newest 1,000 of them, with any status. A page of
   * one channel may be short before the last one. A conversation that gets a message between two pages moves
   * to the top, so a list of several pages may name it twice.
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
    if (view === 'lost') filter.ids ??= await this.conversations.listLost(tenantId);
    const rows = await this.conversations.listActive(tenantId, filter, limit + 1);
    const shown = rows.slice(0, limit);
    const data = shown.filter(({ lost }) => view !== 'lost' || lost !== null).map(toActiveConversation);
    if (rows.length > limit) return { data, nextCursor: shown.at(-1)!.activity };
    const isPart = filter.channel !== undefined && view === undefined;
    return { data, nextCursor: isPart ? await this.conversations.findScannedEnd(tenantId, filter) : null };
  }

  /**
   * Counts the conversations of a workspace with a status, all of them or those of an agent or nobody; 1,001
   * stands for more than 1,000.
   * @throws AppError INVALID_QUERY, FORBIDDEN
   */
  async count(tenantId: string, input: CountConversationsQuery, actor: Actor): Promise<number> {
    const query = validate(CountConversationsQuery, input, 'INVALID_QUERY');
    await requireReadPermission(this.database, tenantId, actor, 'conversation.read');
    const filter = toActivityFilter(query);
    return filter ? this.conversations.count(tenantId, filter) : 0;
  }

  /**
   * Counts the conversations of a workspace with lost replies: these were not delivered, or perhaps not, and
   * nobody has sent them again, dismissed them, or closed the conversation; 1,001 stands for more than 1,000.
   * @throws AppError FORBIDDEN
   */
  async countLost(tenantId: string, actor: Actor): Promise<number> {
    await requireReadPermission(this.database, tenantId, actor, 'conversation.read');
    return this.conversations.countLost(tenantId);
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
    return toConversationDetail(conversation, contact);
  }

  /**
   * Returns a page of the changes of a conversation's status and agent, newest first: 50 by default, 200 at
   * most. They are those of the audit log, without the addresses of who made them. A page may be short before
   * the last one.
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
   * Opens a conversation with a contact over a channel, with its `conversation.created`.
   * @throws AppError INVALID_BODY, NOT_FOUND (the contact)
   */
  async create(tenantId: string, input: CreateConversation): Promise<ConversationDetail> {
    const { contactId, channel } = validate(CreateConversation, input);
    const contact = await this.contacts.get(tenantId, contactId, SYSTEM);
    const partner = { tenantId, contactId: contact.id, sourceChannel: channel, identityExternalId: null };
    const conversation = newConversation(partner);
    await this.database.transaction((tx) => this.insert(tx, conversation));
    return toConversationDetail(conversation, contact);
  }

  /**
   * Opens a conversation with a customer, whose identity the transaction has locked, with its
   * `conversation.created`. The audit log gets an entry.
   * @internal
   */
  async openConversation(
    tx: Transaction,
    partner: ConversationPartner,
    actor: Actor,
  ): Promise<ConversationEntity> {
    const conversation = newConversation(partner);
    await this.insert(tx, conversation);
    const { tenantId, id: entityId, sourceChannel } = conversation;
    const subject = { tenantId, actor, entity: 'conversation', entityId };
    const after = { sourceChannel };
    this.audit.appendPipelined(tx, { ...subject, action: 'conversation.created', after });
    return conversation;
  }

  /**
   * Changes a conversation's status, its assigned agent and the end of its snooze, with one
   * `conversation.updated` for this call, unless only the end changes. Equal values change nothing and fire
   * no event. A conversation that leaves SNOOZED has no end any more. It is handed over to an agent to whom
   * somebody else assigns it.
   * @throws AppError INVALID_BODY (no field; an agent that is unknown, inactive or another workspace's; an
   *   end that is past, more than 366 days ahead, or of a conversation that is not snoozed), NOT_FOUND
   */
  async update(
    tenantId: string,
    id: string,
    input: UpdateConversation,
    actor: Actor,
  ): Promise<ConversationResponse> {
    const { status, assignedAgentId, snoozedUntil } = validate(UpdateConversation, input);
    if (status === undefined && assignedAgentId === undefined && snoozedUntil === undefined)
      throw new AppError('INVALID_BODY', 'Name at least one of status, assignedAgentId and snoozedUntil.');
    return this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'conversation.update');
      // A deactivation waits for the assignment, and then finds the conversation.
      const isKnown =
        assignedAgentId == null || (await this.agents.lockActive(tx, tenantId, assignedAgentId));
      const before = await this.conversations.lock(tx, tenantId, id);
      if (!before) throw AppError.notFound('Conversation');
      if (!isKnown) throw AppError.invalidBody('assignedAgentId', 'agent_unknown');
      if (snoozedUntil && (status ?? before.status) !== 'SNOOZED')
        throw AppError.invalidBody('snoozedUntil', 'not_snoozed');
      const change: Change = {
        ...(status !== undefined && status !== before.status && { status }),
        ...(assignedAgentId !== undefined &&
          assignedAgentId !== before.assignedAgentId && { assignedAgentId }),
        ...newEndOfSnooze(before, status ?? before.status, snoozedUntil),
      };
      if (Object.keys(change).length === 0) return toConversation(before);
      const after = await this.change(tx, before, change, actor);
      if (change.status === 'CLOSED') this.works.close(tx, { tenantId, conversationId: id });
      if (change.assignedAgentId && change.assignedAgentId !== agentOf(actor)) await this.handOver(tx, after);
      return toConversation(after);
    });
  }

  /**
   * Locks the latest conversation with a customer on the channel, or creates one. Answers go to the identity.
   * @param partner the customer, whose identity the transaction has locked: otherwise two messages at once
   *   could create two
   * @internal
   */
  async continueOrCreate(tx: Transaction, partner: ConversationPartner): Promise<ConversationEntity> {
    const latest = await this.conversations.lockLatest(tx, partner);
    if (latest) return latest;
    const conversation = newConversation(partner);
    await this.insert(tx, conversation);
    return conversation;
  }

  /**
   * Opens a locked conversation again, because its customer has written.
   * @internal
   */
  async reopen(tx: Transaction, conversation: ConversationEntity): Promise<void> {
    if (conversation.status === 'OPEN') return;
    const change: Change = { status: 'OPEN', ...newEndOfSnooze(conversation, 'OPEN') };
    await this.change(tx, conversation, change, SYSTEM);
  }

  /**
   * Opens a locked conversation whose snooze has ended, and hands it over to its agent.
   * @internal
   */
  async endSnooze(tx: Transaction, conversation: SnoozedConversation): Promise<void> {
    await this.reopen(tx, conversation);
    await this.handOver(tx, conversation);
  }

  /**
   * Assigns a locked conversation to an agent who replies, if it is nobody's, and does what else a reply
   * brings.
   * @param body text of the reply
   * @returns the id of the event of the assignment; undefined without one
   * @internal
   */
  async noteReply(
    tx: Transaction,
    conversation: ConversationEntity,
    agent: Actor & { id: string },
    body: string,
  ): Promise<string | undefined> {
    const { tenantId, id: conversationId, assignedAgentId } = conversation;
    this.works.reply(tx, { tenantId, agentId: agent.id, conversationId }, body);
    if (assignedAgentId !== null) return undefined;
    const eventId = newId();
    await this.change(tx, conversation, { assignedAgentId: agent.id }, agent, eventId);
    return eventId;
  }

  /**
   * Makes a locked conversation nobody's, because its agent was deactivated.
   * @internal
   */
  async unassign(tx: Transaction, conversation: ConversationEntity): Promise<void> {
    await this.change(tx, conversation, { assignedAgentId: null }, SYSTEM);
  }

  private async insert(tx: Transaction, conversation: ConversationEntity): Promise<void> {
    const { tenantId, id: conversationId, contactId, sourceChannel } = conversation;
    await this.conversations.insert(tx, conversation);
    const data = { conversationId, contactId, sourceChannel };
    this.outbox.appendPipelined(tx, tenantId, 'conversation.created', data);
  }

  private async handOver(tx: Transaction, conversation: ConversationEntity): Promise<void> {
    const { tenantId, id, assignedAgentId } = conversation;
    if (assignedAgentId !== null) await this.works.handOver(tx, { tenantId, agentId: assignedAgentId }, id);
  }

  private async change(
    tx: Transaction,
    before: ConversationEntity,
    change: Change,
    actor: Actor,
    eventId?: string,
  ): Promise<ConversationEntity> {
    const { tenantId, id } = before;
    const updatedAt = new Date();
    const published = { ...change };
    delete published.snoozedUntil;
    const events = Object.keys(published).length > 0 ? 1 : 0;
    const sequence = await this.conversations.update(tx, tenantId, id, { ...change, updatedAt }, events);
    const data = { conversationId: id, ...published };
    if (events > 0)
      this.outbox.appendPipelined(tx, tenantId, 'conversation.updated', data, { id: eventId, sequence });
    const after = { ...before, ...change, updatedAt };
    this.recordPipelined(tx, before, after, actor);
    return after;
  }

  private recordPipelined(
    tx: Transaction,
    before: ConversationEntity,
    after: ConversationEntity,
    actor: Actor,
  ): void {
    const subject = { tenantId: after.tenantId, actor, entity: 'conversation', entityId: after.id };
    const assigned = changedValues(before, after, ['assignedAgentId']);
    if (assigned) this.audit.appendPipelined(tx, { ...subject, action: ASSIGNED, ...assigned });
    const moved = changedValues(before, after, ['status', 'snoozedUntil']);
    if (moved) this.audit.appendPipelined(tx, { ...subject, action: STATUS_ACTIONS[after.status], ...moved });
  }
}

/**
 * Returns the end of a snooze that a change leads to, if it is a new one: that which the change names, or
 * that which it keeps, or none.
 */
function newEndOfSnooze(
  before: ConversationEntity,
  status: ConversationStatus,
  named: Date | null = endOfSnooze(before),
): Pick<Change, 'snoozedUntil'> {
  const snoozedUntil = status === 'SNOOZED' ? named : null;
  return snoozedUntil?.getTime() === before.snoozedUntil?.getTime() ? {} : { snoozedUntil };
}

/** Makes the filter of a list by latest activity; null if no agent has such an id. */
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

function newConversation(
  partner: Pick<ConversationEntity, 'tenantId' | 'contactId' | 'sourceChannel' | 'identityExternalId'>,
): ConversationEntity {
  const now = new Date();
  return {
    id: newId(),
    ...partner,
    status: 'OPEN',
    snoozedUntil: null,
    assignedAgentId: null,
    lastMessageId: null,
    lastMessagePreview: null,
    lastMessageAt: null,
    eventSequence: '0',
    createdAt: now,
    updatedAt: now,
  };
}
