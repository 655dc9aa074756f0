import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import { entitlementOf, erasedData, eventCatalog, EventType, isEventType, isTest } from './event-catalog';

const TYPES = Object.keys(eventCatalog) as EventType[];
const ajv = addFormats(new Ajv({ allErrors: true }));

describe('event catalog', () => {
  it('has the contract’s four events', () => {
    expect(TYPES).toEqual(['message.created', 'conversation.updated', 'audit.event', 'webhook.test']);
  });

  /** Compares the schemas with those that consumers rely on: no key may disappear or change its type. */
  it('has these schemas', () => {
    const schemas = Object.fromEntries(TYPES.map((type) => [type, eventCatalog[type].data]));
    const id = { type: 'string', minLength: 1 };
    const string = { type: 'string' };
    const timestamp = { type: 'string', format: 'date-time' };
    const closedObject = { type: 'object', additionalProperties: false };

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
      'conversation.updated': {
        ...closedObject,
        required: ['conversationId'],
        properties: {
          conversationId: id,
          status: {
            anyOf: ['OPEN', 'SNOOZED', 'CLOSED'].map((status) => ({ type: 'string', const: status })),
          },
          assignedAgentId: { anyOf: [id, { type: 'null' }] },
        },
      },
      'audit.event': {
        ...closedObject,
        required: ['action', 'entity', 'entityId', 'actorId', 'metadata'],
        properties: {
          action: string,
          entity: string,
          entityId: id,
          actorId: id,
          metadata: { type: 'object', patternProperties: { '^(.*)$': {} } },
        },
      },
      'webhook.test': {
        ...closedObject,
        required: ['tenantId', 'test'],
        properties: { tenantId: id, test: { type: 'boolean', const: true } },
      },
    });
  });

  /** Checks which workspaces may get a type, and what an erasure leaves of its data. */
  it('has a fixed treatment of each type', () => {
    const treatments = Object.fromEntries(
      TYPES.map((type) => {
        const { isFrozen, order, entitlement, kind, erase } = eventCatalog[type];
        return [type, { isFrozen, order, entitlement, kind, erases: erase !== null }];
      }),
    );
    const fact = { isFrozen: true, entitlement: null, kind: 'fact', erases: false };
    expect(treatments).toEqual({
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
