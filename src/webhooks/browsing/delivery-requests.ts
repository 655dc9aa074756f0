import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database';
import { EventQueueRepository } from '../../outbox/event-queue.repository';
import { WebhookEndpointsRepository } from '../endpoints/webhook-endpoints.repository';
import { contentOf } from '../deliveries/delivery';
import { bodyOf, headersOf } from '../sending/delivery-request';
import { DeliveryRow } from './delivery-row';
import { WebhookDeliveryRequest } from './webhook-delivery.dto';

/** Signatures that are not shown. Each was made with the secret of its time, which may be gone. */
const NOT_SHOWN = { service: null, standard: null };

/** Composes the request of a delivery. It is not stored, because event and endpoint determine it. */
@Injectable()
export class DeliveryRequests {
  constructor(
    private readonly database: Database,
    private readonly events: EventQueueRepository,
    private readonly endpoints: WebhookEndpointsRepository,
  ) {}

  /**
   * Composes the request of a delivery.
   * @param at time at which the attempt began
   * @returns null when the event or the endpoint is no longer kept
   */
  async compose(
    tenantId: string,
    { id, eventId, endpointId }: DeliveryRow,
    at: Date,
  ): Promise<WebhookDeliveryRequest | null> {
    const [event] = await this.events.find(this.database, tenantId, [eventId]);
    const url = await this.endpoints.findUrl(tenantId, endpointId);
    if (!event || url === null) return null;
    const content = contentOf(id, event);
    const headers = headersOf(content, at, NOT_SHOWN);
    return { method: 'POST', url, headers: pairsOf(headers), body: bodyOf(content, at) };
  }
}

function pairsOf(headers: (string | null)[]): WebhookDeliveryRequest['headers'] {
  return headers.flatMap((name, n) => (n % 2 === 0 ? { name: name!, value: headers[n + 1]! } : []));
}
