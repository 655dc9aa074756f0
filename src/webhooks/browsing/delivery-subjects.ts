import { Injectable } from '@nestjs/common';
import { isId } from '../../common/ids';
import { ConversationsRepository } from '../../conversations/conversations.repository';
import { makePreview } from '../../conversations/preview';
import { Database } from '../../database/database';
import { excerptOf } from '../../outbox/event-catalog';
import { EventQueueRepository, OutboxEvent } from '../../outbox/event-queue.repository';
import { WebhookDeliverySubject } from './webhook-delivery.dto';

/** Subject of an event that is no longer kept. */
export const NO_SUBJECT: WebhookDeliverySubject = {
  conversationId: null,
  contactId: null,
  contactName: null,
  text: null,
};

/** Reads what events are about from where an erasure reaches it: the events and the contacts. */
@Injectable()
export class DeliverySubjects {
  constructor(
    private readonly database: Database,
    private readonly events: EventQueueRepository,
    private readonly conversations: ConversationsRepository,
  ) {}

  /** Returns the subjects of those of the events that are kept, with two statements for all of them. */
  async findMany(tenantId: string, eventIds: string[]): Promise<Map<string, WebhookDeliverySubject>> {
    if (eventIds.length === 0) return new Map();
    const events = await this.events.find(this.database, tenantId, [...new Set(eventIds)]);
    const abouts = events.map(aboutOf);
    const conversationIds = new Set(abouts.map(({ conversationId }) => conversationId));
    const contacts = await this.conversations.findContacts(tenantId, [...conversationIds].filter(isKnown));
    const byConversation = new Map(
      contacts.map(({ conversationId, ...contact }) => [conversationId, contact]),
    );
    return new Map(
      abouts.map(({ eventId, ...about }) => [
        eventId,
        { ...NO_SUBJECT, ...about, ...byConversation.get(about.conversationId ?? '') },
      ]),
    );
  }
}

function aboutOf({ id, type, data }: OutboxEvent) {
  const parsed = JSON.parse(data) as { conversationId?: string };
  const text = makePreview(excerptOf(type, parsed) ?? '');
  return { eventId: id, conversationId: parsed.conversationId ?? null, text: text === '' ? null : text };
}

function isKnown(id: string | null): id is string {
  return id !== null && isId(id);
}
