import { eventCatalog, EventType } from '../../outbox/event-catalog';

const USER_AGENT = 'Service-Webhooks/1.0';
const EXAMPLE_DELIVERED_AT = new Date('2026-11-20T09:41:08.020Z');

export interface RequestContent {
  deliveryId: string;
  eventType: string;
  /** JSON text of the event's `data`. */
  data: string;
  /** Position of the event in its conversation; null for an event of no conversation. */
  sequence: string | null;
  /** JSON text of the context; null, or left out, for an endpoint that does not ask for it. */
  context?: string | null;
  /** Whether the content is an example, sent by a test. A receiver must not process it as an event. */
  isExample?: boolean;
}

/** Returns the `webhook-id`, by which a receiver recognises a repeated delivery. */
export function webhookIdOf({ deliveryId, isExample }: RequestContent): string {
  return isExample ? `test_${deliveryId}` : deliveryId;
}

/** Returns the body. It is built as text, so that the event's data is sent exactly as it is stored. */
export function bodyOf(
  { eventType, data, context }: Pick<RequestContent, 'eventType' | 'data' | 'context'>,
  at: Date,
): string {
  const beside = context ? `,"context":${context}` : '';
  return `{"event":${JSON.stringify(eventType)},"deliveredAt":"${at.toISOString()}","data":${data}${beside}}`;
}

/** Returns a time in whole seconds since 1970, as it is signed and sent in `webhook-timestamp`. */
export function timestampOf(at: Date): number {
  return Math.floor(at.getTime() / 1000);
}

/** Returns header names and values in turn, in the order in which they are sent. */
export function headersOf<Signature>(
  content: RequestContent,
  at: Date,
  signatures: { service: Signature; standard: Signature },
): (string | Signature)[] {
  const { deliveryId, eventType, sequence, isExample } = content;
  // oxfmt-ignore
  return [
    'content-type', 'application/json',
    'user-agent', USER_AGENT,
    'x-service-event', eventType,
    'x-service-signature', signatures.service,
    'x-service-delivery', deliveryId,
    'webhook-id', webhookIdOf(content),
    'webhook-timestamp', String(timestampOf(at)),
    'webhook-signature', signatures.standard,
    ...(sequence === null ? [] : ['x-service-sequence', sequence]),
    ...(isExample ? ['x-service-test', 'true'] : []),
  ];
}

/** Returns the body of a webhook of this type as a receiver gets it, with made-up data. */
export function exampleBody(eventType: EventType): string {
  return bodyOf({ eventType, data: JSON.stringify(eventCatalog[eventType].example) }, EXAMPLE_DELIVERED_AT);
}
