import { eventCatalog, EventType } from '../outbox/event-catalog';
import { Operation, Webhooks } from './document-types';

const DELIVERED_AT = '2026-11-20T09:41:07.803Z';
const DELIVERY_ID = '019ab3f6-2e10-7aa4-8c3d-5e6f7a8b9c0d';

const SEQUENCE = 'x-service-sequence';

interface DeliveryHeader {
  description: string;
  schema: object;
}

/** Documents every event of the catalog with its envelope and the delivery's headers. */
export function webhooks(): Webhooks {
  const types = Object.keys(eventCatalog) as EventType[];
  return Object.fromEntries(types.map((type) => [type, { post: operation(type) }]));
}

function operation(type: EventType): Operation {
  const { description, data, example } = eventCatalog[type];
  return {
    operationId: `webhook_${type.replace('.', '_')}`,
    tags: ['Webhooks'],
    summary: type,
    description,
    security: [],
    parameters: Object.entries(deliveryHeaders(type)).map(([name, header]) => ({
      name,
      in: 'header' as const,
      required: name !== SEQUENCE,
      ...header,
    })),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['event', 'deliveredAt', 'data'],
            properties: {
              event: { type: 'string', enum: [type] },
              deliveredAt: {
                type: 'string',
                format: 'date-time',
                description: 'The moment of this attempt.',
              },
              data: open(data),
            },
          },
          example: { event: type, deliveredAt: DELIVERED_AT, data: example },
        },
      },
    },
    responses: {
      '2XX': {
        description: 'Received. Any other response, or none within 10 seconds, is retried.',
      },
    },
  };
}

/**
 * Returns the schema without `additionalProperties`, because consumers must accept new keys. The catalog's
 * own schema is closed for tests.
 */
function open(schema: object): object {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => (key === 'additionalProperties' ? undefined : value)),
  ) as object;
}

function deliveryHeaders(type: EventType): Record<string, DeliveryHeader> {
  return {
    'user-agent': {
      description: 'The sender.',
      schema: { type: 'string', enum: ['Service-Webhooks/1.0'] },
    },
    'x-service-event': {
      description: "The event's name, as in the body.",
      schema: { type: 'string', enum: [type] },
    },
    'x-service-signature': {
      description: "HMAC-SHA256 of the raw body, keyed with the endpoint's whole secret, in hex.",
      schema: { type: 'string', pattern: '^sha256=[0-9a-f]{64}$', example: `sha256=${'5d'.repeat(32)}` },
    },
    ...(eventCatalog[type].order === 'conversation' && {
      [SEQUENCE]: {
        description:
          "The event's number within its conversation, ascending: sort by it, because events can arrive out of order.",
        schema: { type: 'string', pattern: '^[0-9]+$', example: '7' },
      },
    }),
    'x-service-delivery': {
      description: "The delivery's id: the same on every attempt.",
      schema: { type: 'string', example: DELIVERY_ID },
    },
    'webhook-id': {
      description: "Standard Webhooks: the delivery's id.",
      schema: { type: 'string', example: DELIVERY_ID },
    },
    'webhook-timestamp': {
      description: 'Standard Webhooks: when this attempt was signed, in seconds since 1970.',
      schema: { type: 'string', pattern: '^[0-9]+$', example: '1795167667' },
    },
    'webhook-signature': {
      description:
        "Standard Webhooks: signature over id, timestamp and body, keyed with the secret's decoded bytes.",
      schema: {
        type: 'string',
        pattern: '^v1,[A-Za-z0-9+/]{43}=$',
        example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
      },
    },
  };
}
