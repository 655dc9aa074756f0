import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database';
import { EventQueueRepository } from '../../outbox/event-queue.repository';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { bodyOf, headersOf } from '../sending/delivery-request';
import { DeliveryRow } from './delivery-filter';
import { WebhookDeliveryRequest } from './webhook-delivery.dto';

/** Signatures are by the secret of their moment, so that they can't be shown later. */
const NOT_SHOWN = { service: null, standard: null };

/** What is sent for deliveries. It is stored nowhere: it is made of the event anew. */
@Injectable()
export class DeliveryRequests {
  constructor(
    private readonly database: Database,
    private readonly events: EventQueueRepository,
    private readonly endpoints: WebhookEndpointsRepository,
  ) {}

  /**
   * @param at when the attempt began
   * @returns null when the event or the endpoint is no longer kept
   */
  async of(
    { id, eventId, endpointId }: DeliveryRow,
    tenantId: string,
    at: Date,
  ): Promise<WebhookDeliveryRequest | null> {
    const [event] = await this.events.find(this.database, tenantId, [eventId]);
    const url = await this.endpoints.urlOf(tenantId, endpointId);
    if (!event || url === null) return null;
    const { type: eventType, data, sequence } = event;
    const headers = headersOf({ deliveryId: id, eventType, data, sequence }, at, NOT_SHOWN);
    return { method: 'POST', url, headers: pairsOf(headers), body: bodyOf({ eventType, data }, at) };
  }
}

function pairsOf(headers: (string | null)[]): WebhookDeliveryRequest['headers'] {
  return headers.flatMap((name, n) => (n % 2 === 0 ? { name: name!, value: headers[n + 1]! } : []));
}
