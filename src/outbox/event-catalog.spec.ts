import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import { entitlementOf, erasedData, eventCatalog, EventType, isEventType, isTest } from './event-catalog';

const TYPES = Object.keys(eventCatalog) as EventType[];
const ajv = addFormats(new Ajv({ allErrors: true }));

describe('event catalog', () => {
  it('has the contract’s four events, which are frozen, and others', () => {
    expect(TYPES.filter((type) => eventCatalog[type].isFrozen)).toEqual([
      'message.created',
      'conversation.updated',
      'audit.event',
      'webhook.test',
    ]);
    expect(TYPES.filter((type) => !eventCatalog[type].isFrozen)).toEqual([
      'message.status_changed',
      'message.updated',
      'attachment.updated',
      'conversation.created',
      'contact.created',
      'contact.updated',
      'contact.merged',
      'channel.status_changed',
      'alert.opened',
      'alert.resolved',
    ]);
  });

  it('tells of a message under another name in other events, because receivers know `data.message.id`', () => {
    const others = TYPES.filter((type) => type !== 'message.created');
    expect(others.filter((type) => 'message' in eventCatalog[type].data.properties)).toEqual([]);
  });

  /** Compares the schemas with those that consumers rely on: no key may disappear or change its type. */
  it('has these schemas', () => {
    const schemas = Object.fromEntries(TYPES.map((type) => [type, eventCatalog[type].data]));
    const id = { type: 'string', minLength: 1 };
    const string = { type: 'string' };
    const timestamp = { type: 'string', format: 'date-time' };
    const closedObject = { type: 'object', additionalProperties: false };
    const anyOf = (...values: string[]) => ({
      anyOf: values.map((value) => ({ type: 'string', const: value })),
    });
    const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });
    const channel = anyOf('WIDGET', 'WHATSAPP', 'TELEGRAM', 'MESSENGER', 'INSTAGRAM');
    const connectionStatus = anyOf('ACTIVE', 'REAUTH_REQUIRED', 'DISCONNECTED');
    const alert = objectOf({ alertId: id, kind: string, subjectType: string, subjectId: id });
    const anything = { type: 'object', patternProperties: { '^(.*)$': {} } };
    const contact = objectOf({
      id,
      name: orNull(string),
      email: orNull(string),
      phone: orNull(string),
      avatarUrl: orNull(string),
      identities: { type: 'array', items: objectOf({ channel, externalId: string }) },
      verified: { type: 'array', items: anyOf('name', 'email') },
      attributes: anything,
      createdAt: timestamp,
      updatedAt: timestamp,
    });

    expect(JSON.parse(JSON.stringify(schemas))).toEqual({
      'message.created': {
        ...closedObject,
        required: ['conversationId', 'message'],
        properties: {
          conversationId: id,
          message: {
            ...closedObject,
            required: ['id', 'body', 'senderType', 'createdAt'],
            properties: { id, body: string, senderType: string, createdAt: timestamp },
          },
        },
      },
      'message.status_changed': objectOf({
        conversationId: id,
        messageId: id,
        status: anyOf('SENT', 'DELIVERED', 'READ', 'FAILED', 'UNKNOWN'),
        errorCode: orNull(string),
      }),
      'message.updated': objectOf({
        conversationId: id,
        messageId: id,
        change: anyOf('EDITED', 'UNSENT'),
      }),
      'conversation.created': objectOf({ conversationId: id, contactId: id, sourceChannel: channel }),
      'conversation.updated': {
        ...closedObject,
        required: ['conversationId'],
        properties: {
          conversationId: id,
          status: anyOf('OPEN', 'SNOOZED', 'CLOSED'),
          assignedAgentId: orNull(id),
        },
      },
      'attachment.updated': objectOf({
        conversationId: id,
        messageId: id,
        attachmentId: id,
        kind: anyOf('IMAGE', 'AUDIO', 'VIDEO', 'FILE'),
        state: anyOf('PENDING', 'READY', 'FAILED'),
      }),
      'contact.created': objectOf({ contactId: id, contact }),
      'contact.updated': objectOf({
        contactId: id,
        changed: {
          type: 'array',
          items: anyOf('name', 'email', 'phone', 'attributes', 'verified', 'identities'),
        },
        contact,
      }),
      'contact.merged': objectOf({ contactId: id, mergedContactId: id }),
      'alert.opened': alert,
      'alert.resolved': alert,
      'channel.status_changed': objectOf({
        connectionId: id,
        channel,
        status: connectionStatus,
        previousStatus: orNull(connectionStatus),
      }),
      'audit.event': {
        ...closedObject,
        required: ['action', 'entity', 'entityId', 'actorId', 'metadata'],
        properties: {
          action: string,
          entity: string,
          entityId: id,
          actorId: id,
          metadata: anything,
        },
      },
      'webhook.test': {
        ...closedObject,
        required: ['tenantId', 'test'],
        properties: { tenantId: id, test: { type: 'boolean', const: true } },
      },
    });
  });

  /** Checks which workspaces may get a type, and the data that an erasure leaves. */
  it('has a fixed treatment of each type', () => {
    const treatments = Object.fromEntries(
      TYPES.map((type) => {
        const { isFrozen, order, entitlement, kind, opensAlerts, erase } = eventCatalog[type];
        return [type, { isFrozen, order, entitlement, kind, opensAlerts, erases: erase !== null }];
      }),
    );
    const later = {
      isFrozen: false,
      order: null,
      entitlement: null,
      kind: 'fact',
      opensAlerts: true,
      erases: false,
    };
    const fact = { ...later, isFrozen: true };
    expect(treatments).toEqual({
      'message.status_changed': later,
      'message.updated': { ...later, order: 'conversation' },
      'attachment.updated': later,
      'conversation.created': later,
      'contact.created': { ...later, erases: true },
      'contact.updated': { ...later, erases: true },
      'contact.merged': later,
      'alert.opened': { ...later, opensAlerts: false },
      'alert.resolved': { ...later, opensAlerts: false },
      'channel.status_changed': later,
      'message.created': { ...fact, order: 'conversation', erases: true },
      'conversation.updated': { ...fact, order: 'conversation' },
      'audit.event': { ...fact, order: null, entitlement: 'auditWebhookExport' },
      'webhook.test': { ...fact, order: null, kind: 'test' },
    });
  });

  it('erases what people wrote, and leaves the keys and their order', () => {
    const { example } = eventCatalog['message.created'];
    const left = erasedData('message.created', example);
    expect(JSON.stringify(left)).toBe(JSON.stringify(example).replace(example.message.body, ''));
    expect(ajv.validate(eventCatalog['message.created'].data, left)).toBe(true);
    expect(erasedData('message.created', left)).toEqual(left);
  });

  it.each(['contact.created', 'contact.updated'] as const)(
    'erases the profile in %s, and leaves its keys',
    (type) => {
      const { data, example } = eventCatalog[type];
      const left = erasedData(type, example) as typeof example;
      expect(ajv.validate(data, left) || ajv.errors).toBe(true);
      expect(Object.keys(left.contact)).toEqual(Object.keys(example.contact));
      const { id, createdAt, updatedAt } = example.contact;
      const said = Object.values(left.contact).filter(
        (value) => value !== null && Object.keys(value).length > 0,
      );
      expect(said).toEqual([id, createdAt, updatedAt]);
      expect(erasedData(type, left)).toEqual(left);
    },
  );

  it.each(TYPES.filter((type) => eventCatalog[type].erase === null))('leaves %s as it is', (type) => {
    const { example } = eventCatalog[type];
    expect(erasedData(type, example)).toBe(example);
  });

  it('takes a type of a later version for a fact that every workspace gets', () => {
    const data = { text: 'Hello' };
    expect([entitlementOf('parcel.shipped'), isTest('parcel.shipped')]).toEqual([null, false]);
    expect(erasedData('parcel.shipped', data)).toBe(data);
  });

  it.each(TYPES)('shows an example of %s that fits its schema', (type) => {
    const { data, example } = eventCatalog[type];
    expect(ajv.validate(data, example) || ajv.errors).toBe(true);
  });

  it('knows its own names, and no name that every object has', () => {
    expect(TYPES.every(isEventType)).toBe(true);
    expect(['message.deleted', '*', '', 'toString', 'constructor', '__proto__'].filter(isEventType)).toEqual(
      [],
    );
  });
});

/** Returns the schema of an object with these keys, all of them required, and no others. */
function objectOf(properties: Record<string, object>): object {
  return { type: 'object', additionalProperties: false, required: Object.keys(properties), properties };
}
