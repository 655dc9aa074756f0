import { Injectable } from '@nestjs/common';
import { toAttachment } from '../../attachments/attachment.dto';
import { AttachmentsRepository } from '../../attachments/attachments.repository';
import { groupByWorkspace, partsOf } from '../../common/group-by';
import { isId } from '../../common/ids';
import { toContact } from '../../contacts/contact.dto';
import { ContactsRepository } from '../../contacts/contacts.repository';
import { toConversation } from '../../conversations/conversation.dto';
import { ConversationsRepository } from '../../conversations/conversations.repository';
import { MessagesRepository } from '../../messages/messages.repository';
import { OutboxEvent } from '../../outbox/event-queue.repository';
import { toAgentResponse } from '../../workspaces/agent.dto';
import { AgentsRepository } from '../../workspaces/agents.repository';
import { ContextPart } from './context-parts';
import { NO_CONTEXT, WebhookContext, withParts } from './webhook-context';

const BATCH = 50;

interface Subject {
  tenantId: string;
  conversationId: string | null;
  contactId: string | null;
  messageId: string | null;
}

interface Asked extends Subject {
  parts: ContextPart[];
  resolve: (context: WebhookContext) => void;
  reject: (error: unknown) => void;
}

/**
 * Reads the conversation, contact, sender and attachments of events as they are now. Reads that begin in one
 * tick of the event loop are made together, for up to 50 events of a workspace. Such a batch takes two round
 * trips, with at most six statements that look rows up by key. One of them is for attachments, if a message
 * has some and its context has that part.
 */
@Injectable()
export class ContextReader {
  private asked: Asked[] = [];

  constructor(
    private readonly conversations: ConversationsRepository,
    private readonly contacts: ContactsRepository,
    private readonly messages: MessagesRepository,
    private readonly agents: AgentsRepository,
    private readonly attachments: AttachmentsRepository,
  ) {}

  /** Returns the parts of an event's context. All others are null. */
  read(event: Pick<OutboxEvent, 'tenantId' | 'data'>, parts: ContextPart[]): Promise<WebhookContext> {
    const subject = subjectOf(event);
    if (subject.conversationId === null && subject.contactId === null) return Promise.resolve(NO_CONTEXT);
    return new Promise((resolve, reject) => {
      if (this.asked.length === 0) setImmediate(() => this.readAsked());
      this.asked.push({ ...subject, parts, resolve, reject });
    });
  }

  private readAsked(): void {
    const asked = this.asked;
    this.asked = [];
    const ofWorkspaces = [...groupByWorkspace(asked).values()];
    for (const batch of ofWorkspaces.flatMap((group) => partsOf(group, BATCH)))
      this.readBatch(batch).catch((error: unknown) => {
        for (const { reject } of batch) reject(error);
      });
  }

  private async readBatch(batch: Asked[]): Promise<void> {
    const { tenantId } = batch[0]!;
    const conversationIds = idsOf(batch, ({ conversationId }) => conversationId);
    const [conversations, origins] = await Promise.all([
      this.conversations.findMany(tenantId, conversationIds),
      this.messages.findOrigins(
        tenantId,
        conversationIds,
        idsOf(batch, ({ messageId }) => messageId),
      ),
    ]);
    const byId = new Map(conversations.map((conversation) => [conversation.id, conversation]));
    const contactOf = ({ conversationId, contactId }: Subject) =>
      contactId ?? (conversationId === null ? null : (byId.get(conversationId)?.contactId ?? null));
    const contactIds = idsOf(batch, contactOf);
    const originOf = ({ messageId }: Subject) => (messageId === null ? undefined : origins.get(messageId));
    const withFiles = batch.filter(
      (one) => one.parts.includes('attachments') && originOf(one)?.attachmentCount,
    );
    const [contacts, identities, agents, attachments] = await Promise.all([
      this.contacts.findMany(tenantId, contactIds),
      contactIds.length > 0 ? this.contacts.listIdentities(tenantId, contactIds) : [],
      this.agents.findMany(
        tenantId,
        idsOf([...origins.values()], ({ senderAgentId }) => senderAgentId),
      ),
      this.attachments.listOfConversations(
        tenantId,
        idsOf(withFiles, ({ conversationId }) => conversationId),
        idsOf(withFiles, ({ messageId }) => messageId),
      ),
    ]);
    for (const one of batch) {
      const conversation = one.conversationId === null ? undefined : byId.get(one.conversationId);
      // An erased contact is not found. Its conversation's preview may still be there, so it is left out.
      const contact = contacts.find(({ id }) => id === contactOf(one));
      const origin = originOf(one);
      const sender = agents.find(({ id }) => id === origin?.senderAgentId);
      const context = {
        conversation: conversation
          ? toConversation(contact ? conversation : { ...conversation, lastMessagePreview: null })
          : null,
        contact: contact ? toContact(contact, identities) : null,
        sender: sender ? toAgentResponse(sender) : null,
        attachments: contact && origin ? (attachments.get(one.messageId!) ?? []).map(toAttachment) : null,
      };
      one.resolve(withParts(context, one.parts));
    }
  }
}

function subjectOf({ tenantId, data }: Pick<OutboxEvent, 'tenantId' | 'data'>): Subject {
  const { conversationId, contactId, messageId, message } = JSON.parse(data) as Record<string, unknown>;
  return {
    tenantId,
    conversationId: idOrNull(conversationId),
    contactId: idOrNull(contactId),
    messageId: idOrNull(messageId ?? (message as { id?: unknown } | undefined)?.id),
  };
}

function idOrNull(value: unknown): string | null {
  return typeof value === 'string' && isId(value) ? value : null;
}

function idsOf<T>(items: T[], idOf: (item: T) => string | null): string[] {
  return [...new Set(items.map(idOf).filter((id) => id !== null))];
}
