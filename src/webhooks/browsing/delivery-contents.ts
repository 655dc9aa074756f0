import { Injectable } from '@nestjs/common';
import { isId } from '../../common/ids';
import { ContactConversationsRepository } from '../../conversations/contact-conversations.repository';
import { makePreview } from '../../conversations/preview';
import { Database } from '../../database/database';
import { excerptOf } from '../../outbox/event-catalog';
import { OutboxEvent } from '../../outbox/event-queue.repository';
import { EventsRepository } from '../../outbox/events.repository';
import { contentOf } from '../deliveries/delivery';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { bodyOf, headersOf } from '../sending/delivery-request';
import { DeliveryRow } from './delivery-row';
import { WebhookDeliveryRequest, WebhookDeliverySubject } from './webhook-delivery.dto';

/** Subject of an event that has been deleted. */
export const NO_SUBJECT: WebhookDeliverySubject = {
  conversationId: null,
  contactId: null,
  contactName: null,
  text: null,
};

/** Shows signature headers without values, because the secret that made the signatures may be gone. */
const NOT_SHOWN = { service: null, standard: null };

/**
 * Builds the subjects and the requests of deliveries from their events, endpoints and contacts. They are not
 * stored, so that no copy of a contact's data is left after the contact's erasure.
 */
@Injectable()
export class DeliveryContents {
  constructor(
    private readonly database: Database,
    private readonly events: EventsRepository,
    private readonly conversations: ContactConversationsRepository,
    private readonly endpoints: WebhookEndpointsRepository,
  ) {}

  /** Returns the subjects by event id, with two statements for all events. Leaves out deleted events. */
  async findSubjects(tenantId: string, eventIds: string[]): Promise<Map<string, WebhookDeliverySubject>> {
    if (eventIds.length === 0) return new Map();
    return this.subjectsOf(tenantId, await this.events.find(this.database, tenantId, [...new Set(eventIds)]));
  }

  /**
   * Returns a delivery's subject and request. The request is null if the event or endpoint was deleted.
   * @param at time at which the attempt began
   */
  async read(
    tenantId: string,
    { id, eventId, endpointId }: DeliveryRow,
    at: Date,
  ): Promise<{ subject: WebhookDeliverySubject; request: WebhookDeliveryRequest | null }> {
    const [event] = await this.events.find(this.database, tenantId, [eventId]);
    const url = await this.endpoints.findUrl(tenantId, endpointId);
    const subjects = await this.subjectsOf(tenantId, event ? [event] : []);
    const subject = subjects.get(eventId) ?? NO_SUBJECT;
    if (!event || url === null) return { subject, request: null };
    const content = contentOf(id, event);
    const headers = pairsOf(headersOf(content, at, NOT_SHOWN));
    return { subject, request: { method: 'POST', url, headers, body: bodyOf(content, at) } };
  }

  private async subjectsOf(
    tenantId: string,
    events: OutboxEvent[],
  ): Promise<Map<string, WebhookDeliverySubject>> {
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

function pairsOf(headers: (string | null)[]): WebhookDeliveryRequest['headers'] {
  return headers.flatMap((name, n) => (n % 2 === 0 ? { name: name!, value: headers[n + 1]! } : []));
}
