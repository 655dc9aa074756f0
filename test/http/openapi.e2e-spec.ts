import axios from 'axios';
import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { Validator } from '@seriousme/openapi-schema-validator';
import openApiSchema from '@seriousme/openapi-schema-validator/schemas/v3.1/schema.json';
import { CHANNELS } from '../../src/common/channel-descriptors';
import { COMPATIBILITY } from '../../src/common/compatibility';
import { ContactIdentityEntity } from '../../src/contacts/contact-identity.entity';
import { toContact } from '../../src/contacts/contact.dto';
import { ListedContact, VERIFIED_FIELDS } from '../../src/contacts/contact.entity';
import { EventContact, eventCatalog, EventType } from '../../src/outbox/event-catalog';
import { DOCUMENT_PATHS, readDocuments, resolved } from '../support/openapi-documents';
import { TestService } from '../support/service';

const ROUTES = [
  'GET /api/v1/me',
  'GET /api/v1/conversations',
  'GET /api/v1/conversations/{id}',
  'PATCH /api/v1/conversations/{id}',
  'GET /api/v1/conversations/{id}/messages',
  'POST /api/v1/conversations/{id}/messages',
  'GET /api/v1/contacts',
  'POST /api/v1/conversations',
  'POST /api/v1/contacts',
  'GET /api/v1/contacts/{id}',
  'PATCH /api/v1/contacts/{id}',
  'GET /api/v1/agents',
  'GET /api/v1/messages/search',
  'GET /api/v1/webhook-endpoints',
  'POST /api/v1/webhook-endpoints',
  'GET /api/v1/webhook-endpoints/{id}',
  'PATCH /api/v1/webhook-endpoints/{id}',
  'DELETE /api/v1/webhook-endpoints/{id}',
  'POST /api/v1/webhook-endpoints/{id}/test',
  'POST /api/v1/webhook-endpoints/{id}/roll-secret',
  'GET /api/v1/agents/{id}',
  'POST /api/v1/uploads',
  'GET /api/v1/uploads/{id}',
  'PUT /api/v1/uploads/{id}/content',
  'DELETE /api/v1/uploads/{id}',
  'POST /api/v1/attachments',
  'GET /api/v1/attachments/{id}',
  'GET /api/v1/attachments/{id}/content',
  'POST /api/v1/attachments/{id}/retry',
];

/** Routes without an API key: the hooks that the channels' providers call. */
const PUBLIC_ROUTES = [
  'POST /channels/telegram/{hookKey}',
  'GET /channels/whatsapp/{hookKey}',
  'POST /channels/whatsapp/{hookKey}',
  'GET /channels/messenger/{hookKey}',
  'POST /channels/messenger/{hookKey}',
  'GET /channels/instagram/{hookKey}',
  'POST /channels/instagram/{hookKey}',
  'GET /channels/files/{token}',
];

/** Routes that take a visitor's token. */
const WIDGET_ROUTES = [
  'POST /channels/widget/{siteKey}/sessions',
  'POST /channels/widget/{siteKey}/messages',
  'GET /channels/widget/{siteKey}/messages',
  'PATCH /channels/widget/{siteKey}/messages/{clientMessageId}',
  'DELETE /channels/widget/{siteKey}/messages/{clientMessageId}',
  'POST /channels/widget/{siteKey}/receipts',
  'POST /channels/widget/{siteKey}/typing',
  'GET /channels/widget/{siteKey}/events',
  'POST /channels/widget/{siteKey}/uploads',
  'PUT /channels/widget/{siteKey}/uploads/{id}/content',
  'DELETE /channels/widget/{siteKey}/uploads/{id}',
  'GET /channels/widget/{siteKey}/attachments/{id}/content',
  'GET /channels/widget/{siteKey}/answer-address',
  'POST /channels/widget/{siteKey}/answer-address',
];

const CREATED = new Date('2026-11-02T08:15:30.000Z');
const UNKNOWN_CONTACT: ListedContact = {
  id: '019ab3f2-3b4c-7d5e-8f60-718293a4b5c6',
  name: null,
  email: null,
  phone: null,
  avatarUrl: null,
  verified: [],
  attributes: {},
  createdAt: CREATED,
  updatedAt: CREATED,
};
const KNOWN_CONTACT: ListedContact = {
  ...UNKNOWN_CONTACT,
  name: 'Zoë Martín',
  email: 'zoe@example.com',
  phone: '+34 600 11 22 33',
  avatarUrl: 'https://example.com/zoe.png',
  verified: [...VERIFIED_FIELDS],
  attributes: { city: 'Valencia', orders: 3, isMember: true },
};
const IDENTITIES = CHANNELS.map((channel) => ({
  tenantId: '019ab3ee-0a1b-7c2d-8e3f-4a5b6c7d8e9f',
  channel,
  externalId: '34600112233',
  contactId: KNOWN_CONTACT.id,
  createdAt: CREATED,
  replacedAt: null,
}));
const CONTACTS: [string, ListedContact, ContactIdentityEntity[]][] = [
  ['all of it known', KNOWN_CONTACT, IDENTITIES],
  ['nothing known, or erased', UNKNOWN_CONTACT, []],
];

interface Operation {
  operationId: string;
  security: Record<string, string[]>[];
  parameters: { name: string; in: string; required: boolean; schema: Record<string, unknown> }[];
  requestBody?: { content: Record<string, { schema: object; example: unknown }> };
  responses: Record<string, { headers: object; content: Record<string, any> }>;
}

const OPERATION_IDS = {
  createUpload: 'POST /api/v1/uploads',
  getUpload: 'GET /api/v1/uploads/{id}',
  putUploadContent: 'PUT /api/v1/uploads/{id}/content',
  retryAttachment: 'POST /api/v1/attachments/{id}/retry',
  deleteUpload: 'DELETE /api/v1/uploads/{id}',
  uploadFile: 'POST /api/v1/attachments',
  getAttachment: 'GET /api/v1/attachments/{id}',
  getAttachmentContent: 'GET /api/v1/attachments/{id}/content',
  getMe: 'GET /api/v1/me',
  listConversations: 'GET /api/v1/conversations',
  getConversation: 'GET /api/v1/conversations/{id}',
  updateConversation: 'PATCH /api/v1/conversations/{id}',
  listMessages: 'GET /api/v1/conversations/{id}/messages',
  sendMessage: 'POST /api/v1/conversations/{id}/messages',
  listContacts: 'GET /api/v1/contacts',
  createConversation: 'POST /api/v1/conversations',
  createContact: 'POST /api/v1/contacts',
  getContact: 'GET /api/v1/contacts/{id}',
  updateContact: 'PATCH /api/v1/contacts/{id}',
  listAgents: 'GET /api/v1/agents',
  searchMessages: 'GET /api/v1/messages/search',
  listWebhookEndpoints: 'GET /api/v1/webhook-endpoints',
  createWebhookEndpoint: 'POST /api/v1/webhook-endpoints',
  getWebhookEndpoint: 'GET /api/v1/webhook-endpoints/{id}',
  updateWebhookEndpoint: 'PATCH /api/v1/webhook-endpoints/{id}',
  deleteWebhookEndpoint: 'DELETE /api/v1/webhook-endpoints/{id}',
  testWebhookEndpoint: 'POST /api/v1/webhook-endpoints/{id}/test',
  rollWebhookEndpointSecret: 'POST /api/v1/webhook-endpoints/{id}/roll-secret',
  getAgent: 'GET /api/v1/agents/{id}',
};
/** Rule for the names of schemas: a noun, without a verb at the start or what says only where it is used. */
const NOUN = /^(?!(Create|Update|Send|List|Get|Post|Open)[A-Z])[A-Z][A-Za-z]+(?<!Response|Dto|Query)$/;

describe('the OpenAPI documents', () => {
  let service: TestService;
  /** The two documents as one. */
  let document: any;
  let api: any;
  let channels: any;
  let ajv: Ajv2020;

  beforeAll(async () => {
    service = await TestService.create();
    [api, channels] = await Promise.all(
      DOCUMENT_PATHS.map(async (path) => {
        const answer = await service.client.send({ method: 'GET', path });
        expect(answer.status).toBe(200);
        expect(answer.headers['content-type']).toMatch(/^application\/json/);
        return answer.body;
      }),
    );
    document = await readDocuments(service.baseUrl);
    ajv = addFormats(new Ajv2020({ strict: false })).addSchema(document as object, 'openapi');
  });

  const operation = (route: string): Operation => {
    const [method, path] = route.split(' ') as [string, string];
    return document.paths[path][method.toLowerCase()];
  };
  const parameter = (route: string, name: string) =>
    operation(route)
      .parameters.map((candidate) => resolved(candidate, document))
      .find((candidate) => candidate.name === name)!;

  it('are valid OpenAPI 3.1, with nothing left of 3.0', () => {
    const validate = addFormats(new Ajv2020({ strict: false, validateFormats: false })).compile(
      openApiSchema,
    );
    for (const one of [api, channels]) {
      expect(one.openapi).toBe('3.1.0');
      validate(one);
      expect(validate.errors ?? []).toEqual([]);
      expect(JSON.stringify(one)).not.toContain('"nullable"');
    }
  });

  it('say where the service is, and who can be asked', () => {
    for (const one of [api, channels]) {
      expect(one.servers).toEqual([{ url: 'http://localhost:3000', description: 'This service' }]);
      expect(one.info).toMatchObject({ version: 'v1', contact: { url: 'http://localhost:3000' } });
    }
    expect(api.info.description).toContain(COMPATIBILITY);
  });

  it('name every schema by a noun', () => {
    const schemas = [...Object.keys(api.components.schemas), ...Object.keys(channels.components.schemas)];
    expect(schemas.filter((name) => !NOUN.test(name))).toEqual([]);
    expect(Object.keys(api.components.schemas)).toEqual(
      expect.arrayContaining(['Conversation', 'Message', 'Contact', 'Error', 'MessageCreatedEvent']),
    );
  });

  it('share every error, and hold no component that they do not use', () => {
    const operations = Object.values(document.paths as Record<string, Record<string, Operation>>).flatMap(
      (item) => Object.values(item),
    );
    for (const { responses } of operations)
      for (const [status, response] of Object.entries(responses))
        expect([status, Object.keys(response)]).toEqual([
          status,
          status < '400' ? expect.any(Array) : ['$ref'],
        ]);
    for (const one of [api, channels]) {
      const names = Object.entries(one.components as Record<string, object>)
        .filter(([kind]) => kind !== 'securitySchemes')
        .flatMap(([kind, of]) => Object.keys(of).map((name) => `#/components/${kind}/${name}`));
      const text = JSON.stringify(one);
      const unused = names.filter((name) => !text.includes(`"$ref":"${name}"`));
      expect(unused).toEqual(one === api ? ['#/components/schemas/WebhookEvent'] : []);
    }
  });

  it("list exactly the contract's routes, and those of channels apart", () => {
    const routesOf = ({ paths }: { paths: Record<string, object> }) =>
      Object.entries(paths).flatMap(([path, item]) =>
        Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
      );
    expect(routesOf(api).sort()).toEqual([...ROUTES].sort());
    expect(routesOf(channels).sort()).toEqual([...PUBLIC_ROUTES, ...WIDGET_ROUTES].sort());
  });

  it('name each operation by a verb and a noun', () => {
    expect(Object.fromEntries(ROUTES.map((route) => [operation(route).operationId, route]))).toEqual(
      OPERATION_IDS,
    );
    const ids = [...PUBLIC_ROUTES, ...WIDGET_ROUTES].map((route) => operation(route).operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z]+[A-Z][A-Za-z]+$/.test(id))).toEqual([]);
  });

  it.each(PUBLIC_ROUTES)('%s asks for no key', (route) => {
    expect(operation(route)).not.toHaveProperty('security');
    expect(Object.keys(operation(route).responses)).toEqual(
      expect.arrayContaining(['200', '429', '500', '503']),
    );
  });

  it.each(WIDGET_ROUTES)("%s asks for a visitor's token", (route) => {
    const isOptional = route.endsWith('/sessions');
    expect(operation(route).security).toHaveLength(isOptional ? 2 : 1);
    expect(operation(route).security).toContainEqual({ visitor: [] });
    expect(Object.keys(operation(route).responses)).toEqual(
      expect.arrayContaining(['401', '403', '404', '429', '500', '503']),
    );
  });

  it('resolve every reference they make', () => {
    for (const one of [api, channels])
      for (const [, $ref] of JSON.stringify(one).matchAll(/"\$ref":"([^"]+)"/g))
        expect([$ref, resolved({ $ref }, one)]).toEqual([$ref, expect.anything()]);
  });

  it.each([
    ['GET /api/v1/me', []],
    ['GET /api/v1/conversations', ['conversations:read']],
    ['GET /api/v1/conversations/{id}', ['conversations:read']],
    ['PATCH /api/v1/conversations/{id}', ['conversations:write']],
    ['GET /api/v1/conversations/{id}/messages', ['messages:read', 'conversations:read']],
    ['POST /api/v1/conversations/{id}/messages', ['messages:write']],
    ['GET /api/v1/contacts', ['contacts:read']],
    ['POST /api/v1/conversations', ['conversations:create']],
    ['POST /api/v1/contacts', ['contacts:write']],
    ['GET /api/v1/contacts/{id}', ['contacts:read']],
    ['PATCH /api/v1/contacts/{id}', ['contacts:write']],
    ['GET /api/v1/agents', ['agents:read']],
    ['GET /api/v1/messages/search', ['conversations:read']],
    ['GET /api/v1/webhook-endpoints', ['webhooks:read']],
    ['POST /api/v1/webhook-endpoints', ['webhooks:write']],
    ['GET /api/v1/webhook-endpoints/{id}', ['webhooks:read']],
    ['PATCH /api/v1/webhook-endpoints/{id}', ['webhooks:write']],
    ['DELETE /api/v1/webhook-endpoints/{id}', ['webhooks:write']],
    ['POST /api/v1/webhook-endpoints/{id}/test', ['webhooks:write']],
    ['POST /api/v1/webhook-endpoints/{id}/roll-secret', ['webhooks:write']],
    ['GET /api/v1/agents/{id}', ['agents:read']],
  ])('%s asks for a key in either header, with a scope of %j', (route, scopes) => {
    const alternatives = scopes.length > 0 ? scopes.map((scope) => [scope]) : [[]];
    expect(operation(route).security).toHaveLength(2 * alternatives.length);
    expect(operation(route).security).toEqual(
      expect.arrayContaining(alternatives.flatMap((needed) => [{ bearer: needed }, { apiKey: needed }])),
    );
    expect(api.components.securitySchemes).toEqual({
      bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'plk_…' },
      apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
    });
    expect(channels.components.securitySchemes).toEqual({
      visitor: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    });
  });

  it.each([
    ['GET /api/v1/me', '200 400 401 403 429 500 503'],
    ['GET /api/v1/conversations', '200 400 401 403 429 500 503'],
    ['GET /api/v1/conversations/{id}', '200 400 401 403 404 429 500 503'],
    ['PATCH /api/v1/conversations/{id}', '200 400 401 402 403 404 408 413 429 500 503'],
    ['GET /api/v1/conversations/{id}/messages', '200 400 401 403 404 429 500 503'],
    ['POST /api/v1/conversations/{id}/messages', '201 400 401 402 403 404 408 409 413 429 500 503'],
    ['GET /api/v1/contacts', '200 400 401 403 429 500 503'],
    ['POST /api/v1/conversations', '201 400 401 402 403 404 408 409 413 429 500 503'],
    ['POST /api/v1/contacts', '201 400 401 402 403 408 409 413 429 500 503'],
    ['GET /api/v1/contacts/{id}', '200 400 401 403 404 429 500 503'],
    ['PATCH /api/v1/contacts/{id}', '200 400 401 402 403 404 408 409 413 429 500 503'],
    ['GET /api/v1/agents', '200 400 401 403 429 500 503'],
    ['GET /api/v1/messages/search', '200 400 401 403 429 500 503'],
    ['GET /api/v1/webhook-endpoints', '200 400 401 403 429 500 503'],
    ['POST /api/v1/webhook-endpoints', '201 400 401 402 403 408 409 413 429 500 503'],
    ['GET /api/v1/webhook-endpoints/{id}', '200 400 401 403 404 429 500 503'],
    ['PATCH /api/v1/webhook-endpoints/{id}', '200 400 401 402 403 404 408 409 413 429 500 503'],
    ['DELETE /api/v1/webhook-endpoints/{id}', '204 400 401 402 403 404 429 500 503'],
    ['POST /api/v1/webhook-endpoints/{id}/test', '200 400 401 402 403 404 429 500 503'],
    ['POST /api/v1/webhook-endpoints/{id}/roll-secret', '200 400 401 402 403 404 408 413 429 500 503'],
    ['GET /api/v1/agents/{id}', '200 400 401 403 404 429 500 503'],
  ])('%s can answer %s', (route, statuses) => {
    const { responses } = operation(route);
    expect(Object.keys(responses)).toEqual(statuses.split(' '));
    for (const status of ['429', '503'])
      expect(resolved(responses[status], document).headers).toHaveProperty('Retry-After');
  });

  it('bound the page parameters', () => {
    for (const route of ['conversations', 'conversations/{id}/messages', 'contacts']) {
      const limit = parameter(`GET /api/v1/${route}`, 'limit');
      expect(limit).toMatchObject({
        in: 'query',
        required: false,
        schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
      });
      expect(parameter(`GET /api/v1/${route}`, 'cursor')).toMatchObject({ in: 'query', required: false });
    }
    const valuesOf = (name: string) =>
      resolved(parameter('GET /api/v1/conversations', name).schema, document).enum as string[];
    expect(valuesOf('status')).toEqual(['OPEN', 'SNOOZED', 'CLOSED']);
    expect(valuesOf('channel')).toEqual(['WIDGET', 'WHATSAPP', 'TELEGRAM', 'MESSENGER', 'INSTAGRAM']);
    expect(parameter('GET /api/v1/contacts', 'q').schema).toMatchObject({ type: 'string', maxLength: 200 });
    expect(parameter('POST /api/v1/conversations/{id}/messages', 'Idempotency-Key')).toMatchObject({
      in: 'header',
      required: false,
      schema: { minLength: 1, maxLength: 255 },
    });
  });

  it.each([...ROUTES, ...PUBLIC_ROUTES])('%s: every body has an example, and each is valid', (route) => {
    const { requestBody, responses } = operation(route);
    const contents = [requestBody, ...Object.values(responses)].flatMap((body) =>
      Object.values((resolved(body, document)?.content ?? {}) as Record<string, any>),
    );
    for (const { schema, example, examples } of contents) {
      const values = examples
        ? Object.values(examples as Record<string, { value: unknown }>).map(({ value }) => value)
        : [example];
      const validate = ajv.compile(absolute(schema) as object);
      for (const value of values) {
        expect(value).not.toBeNull();
        validate(value);
        expect(validate.errors ?? []).toEqual([]);
      }
    }
  });

  it('have no name that a generator makes of another one (public report 44)', () => {
    const names = Object.keys(document.components.schemas as object);
    // Go's generators add a constructor `NewX` and pointers' `NullableX` to each schema X.
    for (const prefix of ['New', 'Nullable'])
      expect(names.filter((name) => names.includes(prefix + name))).toEqual([]);
  });

  it('have constants that typed languages take (public report 45)', () => {
    const words = wordsOf(api);
    expect(words).not.toContain('const');
    expect(words).not.toContain('patternProperties');
    expect(api.components.schemas.WebhookTestEvent.properties.data.properties.test).toEqual({
      type: 'boolean',
    });
  });

  it('refer from paths to what webhooks have, so that no generator drops it (public report 46)', () => {
    for (const { post } of Object.values<any>(api.webhooks))
      for (const parameter of post.parameters) expect(parameter).not.toHaveProperty('$ref');
    const { callbacks } = api.paths['/api/v1/webhook-endpoints'].post;
    const { requestBody } = callbacks.event['{$request.body#/url}'].post;
    const union = requestBody.content['application/json'].schema;
    expect(Object.keys(union.discriminator.mapping as object)).toEqual(Object.keys(eventCatalog));
  });

  it('come in the words of OpenAPI 3.0 too', async () => {
    const { data } = await axios.get<any>(`${service.baseUrl}/api/v1/openapi-3.0.json`, { proxy: false });
    expect(await new Validator().validate(structuredClone(data))).toMatchObject({ valid: true });
    expect(data.openapi).toBe('3.0.3');
    expect(data.webhooks).toBeUndefined();
    expect(Object.keys(data.paths as object)).toEqual(Object.keys(api.paths as object));
    expect(data.components.schemas.Contact.properties.name).toEqual({
      type: 'string',
      nullable: true,
      example: 'Zoë Martín',
    });
    // Of nullable without a type, 3.0.3 says that it has no meaning.
    expect(data.components.schemas.WebhookContext.properties.contact).toEqual({
      type: 'object',
      nullable: true,
      allOf: [{ $ref: '#/components/schemas/Contact' }],
    });
  });

  it('list every event of the catalog as a webhook, whole, and as one of a union', () => {
    const types = Object.keys(eventCatalog);
    expect(Object.keys(api.webhooks as object)).toEqual(types);
    const union = ajv.compile({ $ref: 'openapi#/components/schemas/WebhookEvent' });
    for (const type of types) {
      const { parameters, requestBody } = api.webhooks[type].post;
      expect(parameters.map((one: unknown) => resolved(one, document).name)).toEqual([
        'user-agent',
        'x-service-event',
        'x-service-signature',
        ...(eventCatalog[type as EventType].order ? ['x-service-sequence'] : []),
        'x-service-delivery',
        'webhook-id',
        'webhook-timestamp',
        'webhook-signature',
      ]);
      const { schema, example } = requestBody.content['application/json'];
      const validate = ajv.compile(absolute(schema) as object);
      for (const check of [validate, union]) {
        check(example);
        expect(check.errors ?? []).toEqual([]);
      }
      expect(example.event).toBe(type);
      expect(api.components.schemas.WebhookEvent.discriminator.mapping[type]).toBe(schema.$ref);
      // A frozen type gets no new keys, and others may.
      const grown = { ...example, data: { ...example.data, addedLater: 1 } };
      expect([type, validate(grown)]).toEqual([type, !eventCatalog[type as EventType].isFrozen]);
      expect(validate({ ...example, event: 'another.event' })).toBe(false);
    }
  });

  it.each(CONTACTS)('have one contact, for the API and for events: %s', (_, contact, identities) => {
    const shown: object = JSON.parse(JSON.stringify(toContact(contact, identities)));
    const documented = ajv.compile({ $ref: 'openapi#/components/schemas/Contact' });
    const catalogued = ajv.compile(EventContact);
    for (const validate of [documented, catalogued]) {
      validate(shown);
      expect(validate.errors ?? []).toEqual([]);
    }
    const { Contact, ContactCreatedEvent, ContactUpdatedEvent } = api.components.schemas;
    expect(Object.keys(Contact.properties).sort()).toEqual(Object.keys(shown).sort());
    for (const event of [ContactCreatedEvent, ContactUpdatedEvent])
      expect(event.properties.data.properties.contact).toEqual({ $ref: '#/components/schemas/Contact' });
  });
});

/** Returns all keys of a document's schemas. */
function wordsOf(node: unknown, words = new Set<string>()): Set<string> {
  if (typeof node !== 'object' || node === null) return words;
  for (const [key, value] of Object.entries(node)) {
    if (!Array.isArray(node)) words.add(key);
    if (key !== 'example' && key !== 'examples') wordsOf(value, words);
  }
  return words;
}

/** Returns a schema of the document with references that work outside the document. */
function absolute(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"openapi#/'));
}
