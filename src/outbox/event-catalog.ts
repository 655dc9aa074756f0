import { Static, TObject, Type } from '@sinclair/typebox';
import { Entitlement } from '../common/entitlement';

/** Definition of an event type. Code that treats one type unlike another reads the difference here. */
interface EventDefinition<Data extends TObject, Order extends 'conversation' | null> {
  /** Change that the event reports. */
  description: string;
  /** The JSON Schema of `data`, with every key that it has today. COMPATIBILITY says what may change. */
  data: Data;
  /** Whether `data` never gets another key. The contract's types are frozen. */
  isFrozen: boolean;
  example: Static<Data>;
  /**
   * `conversation` for events that are numbered within their conversation; null for events without an order.
   */
  order: Order;
  /**
   * Entitlement without which a workspace gets no event of the type, neither at once nor by a recovery; null
   * when all workspaces get it.
   */
  entitlement: Entitlement | null;
  /**
   * Kind of event. A `fact` goes to every endpoint that has subscribed to it. A `test` goes to one endpoint,
   * even one that has not subscribed to it; it has one attempt, which keeps the response's headers, counts in
   * no statistics and is not recovered.
   */
  kind: 'fact' | 'test';
  /**
   * Returns the data without what customers and agents wrote. Null when the data holds no such text. The
   * eraser finds an event by its id, so the event of a type with `erase` must have the id of the message that
   * it quotes.
   */
  erase: ((data: Static<Data>) => Static<Data>) | null;
  /**
   * Returns words that tell people this event from others of its type. Data of an earlier version may lack a
   * key.
   */
  excerpt: (data: Partial<Static<Data>>) => string | undefined;
}

const Id = Type.String({ minLength: 1 });
const Timestamp = Type.String({ format: 'date-time' });
const closed = { additionalProperties: false };

function define<Data extends TObject, Order extends 'conversation' | null>(
  definition: EventDefinition<Data, Order>,
): EventDefinition<Data, Order> {
  return definition;
}

/**
 * Catalog of every event type. A new type is an entry here and a call that appends it; endpoints subscribed
 * to `*` get it at once.
 */
export const eventCatalog = {
  'message.created': define({
    description: 'A new message landed on a conversation, from any sender: customer, agent or API.',
    data: Type.Object(
      {
        conversationId: Id,
        message: Type.Object(
          { id: Id, body: Type.String(), senderType: Type.String(), createdAt: Timestamp },
          closed,
        ),
      },
      closed,
    ),
    isFrozen: true,
    example: {
      conversationId: '019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11',
      message: {
        id: '019ab3f6-0d4b-7c55-8a2e-6f1f7d1b2c90',
        body: 'Your parcel is on its way.',
        senderType: 'AGENT',
        createdAt: '2026-11-20T09:41:07.512Z',
      },
    },
    order: 'conversation',
    entitlement: null,
    kind: 'fact',
    erase: ({ message, ...data }) => ({ ...data, message: { ...message, body: '' } }),
    excerpt: ({ message }) => message?.body,
  }),
  'conversation.updated': define({
    description:
      "A conversation's status or assigned agent changed. Only the keys of what changed are present.",
    data: Type.Object(
      {
        conversationId: Id,
        status: Type.Optional(
          Type.Union([Type.Literal('OPEN'), Type.Literal('SNOOZED'), Type.Literal('CLOSED')]),
        ),
        assignedAgentId: Type.Optional(Type.Union([Id, Type.Null()])),
      },
      closed,
    ),
    isFrozen: true,
    example: { conversationId: '019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11', status: 'CLOSED' },
    order: 'conversation',
    entitlement: null,
    kind: 'fact',
    erase: null,
    excerpt: ({ status }) => status,
  }),
  'audit.event': define({
    description:
      'A row was written to the audit log. Only for workspaces with the auditWebhookExport entitlement.',
    data: Type.Object(
      {
        action: Type.String(),
        entity: Type.String(),
        entityId: Id,
        actorId: Id,
        metadata: Type.Record(Type.String(), Type.Unknown()),
      },
      closed,
    ),
    isFrozen: true,
    example: {
      action: 'api_key.revoked',
      entity: 'api_key',
      entityId: '019ab3f0-77aa-7f10-8d2f-1b6f3a4c5d6e',
      actorId: '019ab3ee-1f2d-7b3c-9e4f-5a6b7c8d9e0f',
      metadata: { name: 'CRM sync' },
    },
    order: null,
    entitlement: 'auditWebhookExport',
    kind: 'fact',
    erase: null,
    excerpt: ({ action }) => action,
  }),
  'webhook.test': define({
    description: 'The Test button of a webhook endpoint was pressed.',
    data: Type.Object({ tenantId: Id, test: Type.Literal(true) }, closed),
    isFrozen: true,
    example: { tenantId: '019ab3ee-0a1b-7c2d-8e3f-4a5b6c7d8e9f', test: true },
    order: null,
    entitlement: null,
    kind: 'test',
    erase: null,
    excerpt: () => undefined,
  }),
};

export type EventType = keyof typeof eventCatalog;
export type EventData<T extends EventType> = Static<(typeof eventCatalog)[T]['data']>;

/**
 * Reports whether the catalog has a type. A process of an earlier version also meets types that were added
 * later.
 */
export function isEventType(name: string): name is EventType {
  return Object.hasOwn(eventCatalog, name);
}

/** Reports whether events of a type are tests of one endpoint. */
export function isTest(type: string): boolean {
  return isEventType(type) && eventCatalog[type].kind === 'test';
}

/** Types whose events are tests of one endpoint. */
export const TEST_TYPES = Object.keys(eventCatalog).filter(isTest);

/** Returns the entitlement without which a workspace gets no event of a type; null when it needs none. */
export function entitlementOf(type: string): Entitlement | null {
  return isEventType(type) ? eventCatalog[type].entitlement : null;
}

/**
 * Returns the data of an event without what customers and agents wrote; the data itself when it holds no such
 * text.
 */
export function erasedData(type: string, data: object): object {
  const erase = isEventType(type) ? (eventCatalog[type].erase as ((data: object) => object) | null) : null;
  return erase ? erase(data) : data;
}

/** Returns words that tell people an event from others of its type; null when there are none. */
export function excerptOf(type: string, data: object): string | null {
  if (!isEventType(type)) return null;
  return eventCatalog[type].excerpt(data) ?? null;
}
