import { EventContact, eventCatalog, EventType } from '../outbox/event-catalog';
import { typedSchema } from './typed-schema';
import {
  Components,
  Operation,
  Parameter,
  Reference,
  Schema,
  SchemaOrReference,
  Webhooks,
} from './document-types';

const DELIVERED_AT = '2026-11-20T09:41:07.803Z';
const DELIVERY_ID = '019ab3f6-2e10-7aa4-8c3d-5e6f7a8b9c0d';

const TYPES = Object.keys(eventCatalog) as EventType[];

/** Describes every event of the catalog, with its envelope and the headers of its delivery. */
export function webhooks(): Webhooks {
  return Object.fromEntries(TYPES.map((type) => [type, { post: operation(type) }]));
}

export const WEBHOOK_EVENT = '#/components/schemas/WebhookEvent';

/** Returns the schemas of the events' bodies by name, and their union. */
export function eventSchemas(): NonNullable<Components['schemas']> {
  return {
    ...Object.fromEntries(TYPES.map((type) => [eventName(type), eventSchema(type)])),
    WebhookContext: contextSchema,
    WebhookEvent: {
      description: 'Body of a webhook. More types may come, for endpoints that are subscribed to `*`.',
      ...eventUnion(),
    },
  };
}

function eventUnion(): Schema {
  const mapping = Object.fromEntries(TYPES.map((type) => [type, eventReference(type).$ref]));
  return { oneOf: TYPES.map(eventReference), discriminator: { propertyName: 'event', mapping } };
}

function operation(type: EventType): Operation {
  const { description, example, order } = eventCatalog[type];
  return {
    operationId: `receive${inPascalCase(type)}`,
    tags: ['Webhooks'],
    summary: type,
    description,
    security: [],
    parameters: [
      header('user-agent'),
      { ...header('x-service-event'), schema: { type: 'string', enum: [type] } },
      header('x-service-signature'),
      ...(order === 'conversation' ? [header('x-service-sequence')] : []),
      ...['x-service-delivery', 'webhook-id', 'webhook-timestamp', 'webhook-signature'].map(header),
    ],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: eventReference(type),
          example: { event: type, deliveredAt: DELIVERED_AT, data: example },
        },
      },
    },
    responses: RECEIVED,
  };
}

const RECEIVED = {
  '2XX': { description: 'Received. Any other response, or none within 10 seconds, is retried.' },
};

/**
 * Returns the callback of the route that registers an endpoint. It describes the requests to the endpoint,
 * for OpenAPI documents and tools that have no webhooks.
 */
export function endpointCallbacks(): NonNullable<Operation['callbacks']> {
  return {
    event: {
      '{$request.body#/url}': {
        post: {
          tags: ['Webhooks'],
          summary: 'An event that the endpoint is subscribed to',
          security: [],
          parameters: Object.keys(HEADERS).map(header),
          requestBody: {
            required: true,
            content: { 'application/json': { schema: eventUnion() } },
          },
          responses: RECEIVED,
        },
      },
    },
  };
}

function eventSchema(type: EventType): Schema {
  const { description, data, isFrozen } = eventCatalog[type];
  return {
    type: 'object',
    description,
    required: ['event', 'deliveredAt', 'data'],
    properties: {
      event: { type: 'string', enum: [type] },
      deliveredAt: { type: 'string', format: 'date-time', description: 'The moment of this attempt.' },
      data: isFrozen ? copy(data) : open(data),
      context: reference('WebhookContext'),
    },
  };
}

const orNull = (schema: string): SchemaOrReference => ({ anyOf: [reference(schema), { type: 'null' }] });

const contextSchema: Schema = {
  type: 'object',
  description:
    'What the event is about, as it is at the attempt: only for an endpoint that asks for it. A part is null when the ' +
    'event has none, when its contact is erased, or when whoever asked may not read it.',
  required: ['conversation', 'contact', 'sender', 'attachments'],
  properties: {
    conversation: orNull('Conversation'),
    contact: orNull('Contact'),
    sender: { ...orNull('Agent'), description: "The agent who wrote; null for a customer's message." },
    attachments: {
      anyOf: [{ type: 'array', items: reference('Attachment') }, { type: 'null' }],
      description: 'The files of the message, without their bytes; null for an event without a message.',
    },
  },
};

function eventName(type: EventType): string {
  const name = inPascalCase(type);
  return name.endsWith('Event') ? name : `${name}Event`;
}

function eventReference(type: EventType): Reference {
  return reference(eventName(type));
}

function reference(schema: string): Reference {
  return { $ref: `#/components/schemas/${schema}` };
}

/** Describes a header without a component, because generators drop components that no path refers to. */
function header(name: string): Parameter {
  return { name, in: 'header', required: true, ...HEADERS[name]! };
}

function inPascalCase(type: EventType): string {
  return type.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function copy(schema: object): Schema {
  return typedSchema(JSON.parse(JSON.stringify(schema)) as object);
}

/**
 * Returns the schema without `additionalProperties`, because consumers must accept new keys. The schema of a
 * contact in it is replaced by the API's.
 */
function open(schema: object): Schema {
  const write = (key: string, value: unknown) => {
    if (value === EventContact) return reference('Contact');
    return key === 'additionalProperties' ? undefined : value;
  };
  return typedSchema(JSON.parse(JSON.stringify(schema, write)) as object);
}

const HEADERS: Record<string, { description: string; required?: boolean; schema: Schema }> = {
  'user-agent': {
    description: 'The sender.',
    schema: { type: 'string', enum: ['Service-Webhooks/1.0'] },
  },
  'x-service-event': {
    description: "The event's name, as in the body.",
    schema: { type: 'string', example: 'message.created' },
  },
  'x-service-signature': {
    description: "HMAC-SHA256 of the raw body, keyed with the endpoint's whole secret, in hex.",
    schema: { type: 'string', pattern: '^sha256=[0-9a-f]{64}$', example: `sha256=${'5d'.repeat(32)}` },
  },
  'x-service-sequence': {
    description:
      "The event's number within its conversation, ascending: sort by it, because events can arrive out of order.",
    required: false,
    schema: { type: 'string', pattern: '^[0-9]+$', example: '7' },
  },
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
