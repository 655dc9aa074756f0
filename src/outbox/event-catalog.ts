import { Static, TObject, TSchema, Type } from '@sinclair/typebox';
import { CHANNELS } from '../common/channel-descriptors';
import { Entitlement } from '../access/permissions';

/** Subscription of a webhook endpoint to all event types, including future ones. */
export const ALL_EVENTS = '*';

/** Definition of an event type. Code that treats types differently must decide by a field of it. */
interface EventDefinition<Data extends TObject, Order extends 'conversation' | null> {
  description: string;
  /** JSON Schema of the events' `data`. `COMPATIBILITY` says how a later version may change it. */
  data: Data;
  /** Whether no later version may add a key to `data`; false by default. */
  isFrozen?: boolean;
  example: Static<Data>;
  /** `conversation` if events of the type are numbered within their conversation; null by default. */
  order?: Order;
  /** Entitlement that a workspace needs to get events of the type; null, the default, if it needs none. */
  entitlement?: Entitlement | null;
  /**
   * `fact`, the default: the event goes to every endpoint that subscribes to the type. `test`: the event goes
   * to one endpoint, subscribed or not. Its delivery has one attempt, which stores the response's headers;
   * statistics and recoveries leave it out.
   */
  kind?: 'fact' | 'test';
  /** Whether a delivery of it that is given up opens an alert; true by default. */
  opensAlerts?: boolean;
  /**
   * Returns the data without personal texts: texts of customers and agents, and a contact's profile. Null if
   * the data has none. An erasure finds the event of a message by the message's id, so the event must have
   * that id. It finds a contact's events by `contactId` in their data.
   */
  erase: ((data: Static<Data>) => Static<Data>) | null;
  /** Returns a text by which people recognise the event. An earlier version may have stored fewer keys. */
  excerpt: (data: Partial<Static<Data>>) => string | undefined;
}

type CompleteDefinition<Data extends TObject, Order extends 'conversation' | null> = Required<
  EventDefinition<Data, Order>
>;

const Id = Type.String({ minLength: 1 });
const Timestamp = Type.String({ format: 'date-time' });
const closed = { additionalProperties: false };
const OrNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const OneOf = <const Value extends string>(values: readonly Value[]) =>
  Type.Unsafe<Value>(Type.Union(values.map((value) => Type.Literal(value))));
const ChannelName = OneOf(CHANNELS);

/** Schema of a contact in events. The OpenAPI document has the REST API's schema `Contact` instead. */
export const EventContact = Type.Object(
  {
    id: Id,
    name: OrNull(Type.String()),
    email: OrNull(Type.String()),
    phone: OrNull(Type.String()),
    avatarUrl: OrNull(Type.String()),
    identities: Type.Array(Type.Object({ channel: ChannelName, externalId: Type.String() }, closed)),
    verified: Type.Array(OneOf(['name', 'email'])),
    attributes: Type.Record(Type.String(), Type.Unknown()),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  closed,
);

function erasedContact({
  id,
  createdAt,
  updatedAt,
}: Static<typeof EventContact>): Static<typeof EventContact> {
  return {
    id,
    name: null,
    email: null,
    phone: null,
    avatarUrl: null,
    identities: [],
    verified: [],
    attributes: {},
    createdAt,
    updatedAt,
  };
}

const EXAMPLE_CONTACT: Static<typeof EventContact> = {
  id: '019ab3f2-3b4c-7d5e-8f60-718293a4b5c6',
  name: 'Zoë Martín',
  email: 'zoe@example.com',
  phone: '+34 600 11 22 33',
  avatarUrl: null,
  identities: [{ channel: 'WHATSAPP', externalId: '34600112233' }],
  verified: [],
  attributes: { city: 'Valencia' },
  createdAt: '2026-11-02T08:15:30.000Z',
  updatedAt: '2026-11-18T16:20:00.000Z',
};

function define<Data extends TObject, Order extends 'conversation' | null = null>(
  entry: EventDefinition<Data, Order>,
): CompleteDefinition<Data, Order> {
  const defaults = {
    isFrozen: false,
    order: null as Order,
    entitlement: null,
    kind: 'fact' as const,
    opensAlerts: true,
  };
  return { ...defaults, ...entry };
}

const AlertData = Type.Object(
  { alertId: Id, kind: Type.String(), subjectType: Type.String(), subjectId: Id },
  closed,
);

const EXAMPLE_ALERT: Static<typeof AlertData> = {
  alertId: '019ab3f8-1a2b-7c3d-8e4f-5a6b7c8d9e0f',
  kind: 'ENDPOINT_FAILING',
  subjectType: 'webhook_endpoint',
  subjectId: '019ab3ef-2b3c-7d4e-8f50-617283940a1b',
};

/** Catalog of all event types. A new type needs an entry here and a call that appends its events. */
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
    erase: ({ message, ...data }) => ({ ...data, message: { ...message, body: '' } }),
    excerpt: ({ message }) => message?.body,
  }),
  'message.status_changed': define({
    description:
      "An agent's message got further on its way: SENT, DELIVERED, READ, FAILED or UNKNOWN. The furthest status counts.",
    data: Type.Object(
      {
        conversationId: Id,
        messageId: Id,
        status: OneOf(['SENT', 'DELIVERED', 'READ', 'FAILED', 'UNKNOWN']),
        errorCode: OrNull(Type.String()),
      },
      closed,
    ),
    example: {
      conversationId: '019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11',
      messageId: '019ab3f6-0d4b-7c55-8a2e-6f1f7d1b2c90',
      status: 'DELIVERED',
      errorCode: null,
    },
    erase: null,
    excerpt: ({ status }) => status,
  }),
  'message.updated': define({
    description:
      'A customer changed a message: EDITED gave it a new text, UNSENT took it back, which erased it. Read the message for its text.',
    data: Type.Object({ conversationId: Id, messageId: Id, change: OneOf(['EDITED', 'UNSENT']) }, closed),
    example: {
      conversationId: '019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11',
      messageId: '019ab3f6-0d4b-7c55-8a2e-6f1f7d1b2c90',
      change: 'EDITED',
    },
    order: 'conversation',
    erase: null,
    excerpt: ({ change }) => change,
  }),
  'attachment.updated': define({
    description:
      'The bytes of an attachment are stored (READY), will not come (FAILED), or are fetched once more (PENDING). Read the message for the rest.',
    data: Type.Object(
      {
        conversationId: Id,
        messageId: Id,
        attachmentId: Id,
        kind: OneOf(['IMAGE', 'AUDIO', 'VIDEO', 'FILE']),
        state: OneOf(['PENDING', 'READY', 'FAILED']),
      },
      closed,
    ),
    example: {
      conversationId: '019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11',
      messageId: '019ab3f6-0d4b-7c55-8a2e-6f1f7d1b2c90',
      attachmentId: '019ab3f7-5d6e-7f80-9a1b-2c3d4e5f6a7b',
      kind: 'IMAGE',
      state: 'READY',
    },
    erase: null,
    excerpt: ({ kind, state }) => (kind && state ? `${kind} ${state}` : undefined),
  }),
  'conversation.created': define({
    description: 'A conversation was opened.',
    data: Type.Object({ conversationId: Id, contactId: Id, sourceChannel: ChannelName }, closed),
    example: {
      conversationId: '019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11',
      contactId: '019ab3f2-3b4c-7d5e-8f60-718293a4b5c6',
      sourceChannel: 'WHATSAPP',
    },
    erase: null,
    excerpt: ({ sourceChannel }) => sourceChannel,
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
    erase: null,
    excerpt: ({ status }) => status,
  }),
  'contact.created': define({
    description: 'A contact was created: a customer wrote for the first time, or somebody added one.',
    data: Type.Object({ contactId: Id, contact: EventContact }, closed),
    example: { contactId: EXAMPLE_CONTACT.id, contact: EXAMPLE_CONTACT },
    erase: ({ contact, ...data }) => ({ ...data, contact: erasedContact(contact) }),
    excerpt: ({ contact }) => contact?.name ?? undefined,
  }),
  'contact.updated': define({
    description: "A contact's profile changed: changed names the fields, and contact has all of them.",
    data: Type.Object(
      {
        contactId: Id,
        changed: Type.Array(OneOf(['name', 'email', 'phone', 'attributes', 'verified', 'identities'])),
        contact: EventContact,
      },
      closed,
    ),
    example: { contactId: EXAMPLE_CONTACT.id, changed: ['phone'], contact: EXAMPLE_CONTACT },
    erase: ({ contact, ...data }) => ({ ...data, contact: erasedContact(contact) }),
    excerpt: ({ contact }) => contact?.name ?? undefined,
  }),
  'contact.merged': define({
    description:
      'Two contacts have proved to be one person. contactId has all that mergedContactId had, and the id of the latter leads to it.',
    data: Type.Object({ contactId: Id, mergedContactId: Id }, closed),
    example: { contactId: EXAMPLE_CONTACT.id, mergedContactId: '019ab3f2-7c1d-7a2b-8c3d-4e5f6a7b8c9d' },
    erase: null,
    excerpt: () => undefined,
  }),
  'channel.status_changed': define({
    description:
      "A channel's connection was made, ended, works again, or needs new credentials (REAUTH_REQUIRED).",
    data: Type.Object(
      {
        connectionId: Id,
        channel: ChannelName,
        status: OneOf(['ACTIVE', 'REAUTH_REQUIRED', 'DISCONNECTED']),
        previousStatus: OrNull(OneOf(['ACTIVE', 'REAUTH_REQUIRED', 'DISCONNECTED'])),
      },
      closed,
    ),
    example: {
      connectionId: '019ab3f1-5d6e-7f80-9a1b-2c3d4e5f6a7b',
      channel: 'WHATSAPP',
      status: 'REAUTH_REQUIRED',
      previousStatus: 'ACTIVE',
    },
    erase: null,
    excerpt: ({ status }) => status,
  }),
  'alert.opened': define({
    description: 'Something of the workspace needs its owners: kind says what, and the subject which one.',
    data: AlertData,
    example: EXAMPLE_ALERT,
    opensAlerts: false,
    erase: null,
    excerpt: ({ kind }) => kind,
  }),
  'alert.resolved': define({
    description: 'What an alert told of has ended.',
    data: AlertData,
    example: EXAMPLE_ALERT,
    opensAlerts: false,
    erase: null,
    excerpt: ({ kind }) => kind,
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
    entitlement: 'auditWebhookExport',
    erase: null,
    excerpt: ({ action }) => action,
  }),
  'webhook.test': define({
    description: 'The Test button of a webhook endpoint was pressed.',
    data: Type.Object({ tenantId: Id, test: Type.Literal(true) }, closed),
    isFrozen: true,
    example: { tenantId: '019ab3ee-0a1b-7c2d-8e3f-4a5b6c7d8e9f', test: true },
    kind: 'test',
    erase: null,
    excerpt: () => undefined,
  }),
};

export type EventType = keyof typeof eventCatalog;
export type EventData<T extends EventType> = Static<(typeof eventCatalog)[T]['data']>;

/** Reports whether the catalog has a type. It lacks types of events that a later version has stored. */
export function isEventType(name: string): name is EventType {
  return Object.hasOwn(eventCatalog, name);
}

export function isTest(type: string): boolean {
  return isEventType(type) && eventCatalog[type].kind === 'test';
}

/** Reports whether an alert is opened when a delivery of an event of the type is given up. */
export function opensAlerts(type: string): boolean {
  return !isEventType(type) || eventCatalog[type].opensAlerts;
}

export const TEST_TYPES = Object.keys(eventCatalog).filter(isTest);

export function entitlementOf(type: string): Entitlement | null {
  return isEventType(type) ? eventCatalog[type].entitlement : null;
}

/** Returns an event's data without personal texts; the same object if the data has none. */
export function erasedData(type: string, data: object): object {
  const erase = isEventType(type) ? (eventCatalog[type].erase as ((data: object) => object) | null) : null;
  return erase ? erase(data) : data;
}

export function excerptOf(type: string, data: object): string | null {
  if (!isEventType(type)) return null;
  return eventCatalog[type].excerpt(data) ?? null;
}
