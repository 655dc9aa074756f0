import { Injectable } from '@nestjs/common';
import { Actor, agentOf, SYSTEM } from '../access/principal';
import { AuditService } from '../audit/audit.service';
import { changedValues } from '../audit/changed-values';
import { AppError } from '../common/app-error';
import { newId } from '../common/ids';
import { Transaction } from '../database/transaction';
import { OutboxService } from '../outbox/outbox.service';
import { AgentsRepository } from '../workspaces/agents.repository';
import { ASSIGNED, STATUS_ACTIONS } from './conversation-change';
import { ConversationWorks } from './conversation-works';
import { UpdateConversation } from './conversation.dto';
import { ConversationEntity, endOfSnooze } from './conversation.entity';
import { ConversationPartner, ConversationsRepository, NewValues } from './conversations.repository';

/** Opens and changes conversations in the caller's transaction, with their events and audit entries. */
@Injectable()
export class ConversationWriter {
  constructor(
    private readonly conversations: ConversationsRepository,
    private readonly agents: AgentsRepository,
    private readonly works: ConversationWorks,
    private readonly outbox: OutboxService,
    private readonly audit: AuditService,
  ) {}

  async open(
    tx: Transaction,
    partner: Pick<ConversationEntity, 'tenantId' | 'contactId' | 'sourceChannel' | 'identityExternalId'>,
  ): Promise<ConversationEntity> {
    const now = new Date();
    const conversation: ConversationEntity = {
      id: newId(),
      ...partner,
      status: 'OPEN',
      snoozedUntil: null,
      assignedAgentId: null,
      lastMessageId: null,
      lastMessagePreview: null,
      lastMessageAt: null,
      waitingMessageId: null,
      eventSequence: '0',
      createdAt: now,
      updatedAt: now,
    };
    await this.conversations.insert(tx, conversation);
    const { tenantId, contactId, sourceChannel } = partner;
    const data = { conversationId: conversation.id, contactId, sourceChannel };
    this.outbox.appendPipelined(tx, tenantId, 'conversation.created', data);
    return conversation;
  }

  /**
   * Opens a conversation, with its event and an audit entry that names the actor.
   * @param partner the customer; the transaction must have locked their identity
   */
  async openAs(tx: Transaction, partner: ConversationPartner, actor: Actor): Promise<ConversationEntity> {
    const conversation = await this.open(tx, partner);
    const { tenantId, id: entityId, sourceChannel } = conversation;
    const subject = { tenantId, actor, entity: 'conversation', entityId };
    const after = { sourceChannel };
    this.audit.appendPipelined(tx, { ...subject, action: 'conversation.created', after });
    return conversation;
  }

  /**
   * Locks the newest conversation with a customer on a channel, or opens one if there is none. From now on,
   * replies are sent to the identity that `partner` names.
   * @param partner the customer; the transaction must have locked their identity, so that two messages at
   *   once cannot open two conversations
   */
  async continueOrOpen(tx: Transaction, partner: ConversationPartner): Promise<ConversationEntity> {
    return (await this.conversations.lockLatest(tx, partner)) ?? this.open(tx, partner);
  }

  /**
   * Changes a conversation as `ConversationsService.update` does, without a check of the permission.
   * @throws AppError INVALID_BODY, NOT_FOUND
   */
  async update(
    tx: Transaction,
    tenantId: string,
    id: string,
    { status, assignedAgentId, snoozedUntil }: UpdateConversation,
    actor: Actor,
  ): Promise<ConversationEntity> {
    // This lock on the agent's row makes a deactivation wait, so that it finds this conversation.
    const isKnown = assignedAgentId == null || (await this.agents.lockActive(tx, tenantId, assignedAgentId));
    const before = await this.conversations.lock(tx, tenantId, id);
    if (!before) throw AppError.notFound('Conversation');
    if (!isKnown) throw AppError.invalidBody('assignedAgentId', 'agent_unknown');
    if (snoozedUntil && (status ?? before.status) !== 'SNOOZED')
      throw AppError.invalidBody('snoozedUntil', 'not_snoozed');
    const change: NewValues = {
      ...(status !== undefined && status !== before.status && { status }),
      ...(assignedAgentId !== undefined && assignedAgentId !== before.assignedAgentId && { assignedAgentId }),
      ...newEndOfSnooze(before, status ?? before.status, snoozedUntil),
    };
    if (Object.keys(change).length === 0) return before;
    const after = await this.change(tx, before, change, actor);
    if (change.status === 'CLOSED')
      for (const work of this.works.closings) work(tx, { tenantId, conversationId: id });
    if (change.assignedAgentId && change.assignedAgentId !== agentOf(actor)) await this.handOver(tx, after);
    return after;
  }

  /** Reopens a locked conversation, with the system as the actor. Does nothing if it is open. */
  async reopen(tx: Transaction, conversation: ConversationEntity): Promise<void> {
    if (conversation.status === 'OPEN') return;
    const change: NewValues = { status: 'OPEN', ...newEndOfSnooze(conversation, 'OPEN') };
    await this.change(tx, conversation, change, SYSTEM);
  }

  /** Reopens a locked conversation whose snooze has ended, and hands it over to its assigned agent. */
  async endSnooze(tx: Transaction, conversation: ConversationEntity): Promise<void> {
    await this.reopen(tx, conversation);
    await this.handOver(tx, conversation);
  }

  /**
   * Runs the functions that features have registered for agents' replies. If the conversation has no agent,
   * assigns it to the agent who replies.
   * @param body text of the reply
   * @returns the id of the event of the assignment; undefined if the conversation had an agent
   */
  async noteReply(
    tx: Transaction,
    conversation: ConversationEntity,
    agent: Actor & { id: string },
    body: string,
  ): Promise<string | undefined> {
    const { tenantId, id: conversationId, assignedAgentId } = conversation;
    for (const work of this.works.replies) work(tx, { tenantId, agentId: agent.id, conversationId }, body);
    if (assignedAgentId !== null) return undefined;
    const eventId = newId();
    await this.change(tx, conversation, { assignedAgentId: agent.id }, agent, eventId);
    return eventId;
  }

  async unassign(tx: Transaction, conversation: ConversationEntity): Promise<void> {
    await this.change(tx, conversation, { assignedAgentId: null }, SYSTEM);
  }

  private async handOver(tx: Transaction, conversation: ConversationEntity): Promise<void> {
    const { tenantId, id, assignedAgentId: agentId } = conversation;
    if (agentId === null) return;
    for (const work of this.works.handovers) await work(tx, { tenantId, agentId }, id);
  }

  private async change(
    tx: Transaction,
    before: ConversationEntity,
    change: NewValues,
    actor: Actor,
    eventId?: string,
  ): Promise<ConversationEntity> {
    const { tenantId, id } = before;
    const updatedAt = new Date();
    const published = { ...change };
    delete published.snoozedUntil;
    const events = Object.keys(published).length > 0 ? 1 : 0;
    const sequence = await this.conversations.update(tx, before, change, updatedAt, events);
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
 * Returns the new `snoozedUntil`, or an empty object if it does not change. `snoozedUntil` is null if the
 * conversation is not snoozed after the change.
 */
function newEndOfSnooze(
  before: ConversationEntity,
  status: ConversationEntity['status'],
  named: Date | null = endOfSnooze(before),
): Pick<NewValues, 'snoozedUntil'> {
  const snoozedUntil = status === 'SNOOZED' ? named : null;
  return snoozedUntil?.getTime() === before.snoozedUntil?.getTime() ? {} : { snoozedUntil };
}
