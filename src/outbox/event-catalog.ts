import { Static, TObject, Type } from '@sinclair/typebox';

interface EventDefinition {
  /** When it fires. */
  description: string;
  /** The JSON Schema of `data`. Consumers rely on it: keys may be added, never removed or changed. */
  data: TObject;
  example: object;
  /** `conversation` when its events are numbered within their conversation; null without an order. */
  order: 'conversation' | null;
}

const Id = Type.String({ minLength: 1 });
const Timestamp = Type.String({ format: 'date-time' });
const closed = { additionalProperties: false };

/** Every event type. A new one is an entry here and a call that appends it; `*` endpoints get it at once. */
export const eventCatalog = {
  'message.created': {
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
  },
  'conversation.updated': {
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
    example: { conversationId: '019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11', status: 'CLOSED' },
    order: 'conversation',
  },
  'audit.event': {
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
    example: {
      action: 'api_key.revoked',
      entity: 'api_key',
      entityId: '019ab3f0-77aa-7f10-8d2f-1b6f3a4c5d6e',
      actorId: '019ab3ee-1f2d-7b3c-9e4f-5a6b7c8d9e0f',
      metadata: { name: 'CRM sync' },
    },
    order: null,
  },
  'webhook.test': {
    description: 'The Test button of a webhook endpoint was pressed.',
    data: Type.Object({ tenantId: Id, test: Type.Literal(true) }, closed),
    example: { tenantId: '019ab3ee-0a1b-7c2d-8e3f-4a5b6c7d8e9f', test: true },
    order: null,
  },
} satisfies Record<string, EventDefinition>;

export type EventType = keyof typeof eventCatalog;
export type EventData<T extends EventType> = Static<(typeof eventCatalog)[T]['data']>;

export function isEventType(name: string): name is EventType {
  return Object.hasOwn(eventCatalog, name);
}
