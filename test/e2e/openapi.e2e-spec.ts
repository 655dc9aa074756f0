import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import openApiSchema from '@seriousme/openapi-schema-validator/schemas/v3.1/schema.json';
import { eventCatalog, EventType } from '../../src/outbox/event-catalog';
import { TestService } from '../support/service';

const ROUTES = [
  'GET /api/v1/me',
  'GET /api/v1/conversations',
  'GET /api/v1/conversations/{id}',
  'PATCH /api/v1/conversations/{id}',
  'GET /api/v1/conversations/{id}/messages',
  'POST /api/v1/conversations/{id}/messages',
  'GET /api/v1/contacts',
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
];

/** Routes that take a visitor's token. */
const WIDGET_ROUTES = [
  'POST /channels/widget/{siteKey}/sessions',
  'POST /channels/widget/{siteKey}/messages',
  'GET /channels/widget/{siteKey}/messages',
  'POST /channels/widget/{siteKey}/receipts',
  'POST /channels/widget/{siteKey}/typing',
  'GET /channels/widget/{siteKey}/events',
];

interface Operation {
  operationId: string;
  security: Record<string, string[]>[];
  parameters: { name: string; in: string; required: boolean; schema: Record<string, unknown> }[];
  requestBody?: { content: Record<string, { schema: object; example: unknown }> };
  responses: Record<string, { headers: object; content: Record<string, any> }>;
}

describe('the OpenAPI document', () => {
  let service: TestService;
  let document: any;
  let ajv: Ajv2020;

  beforeAll(async () => {
    service = await TestService.create();
    const answer = await service.client.send({ method: 'GET', path: '/api/v1/openapi.json' });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    document = answer.body;
    ajv = addFormats(new Ajv2020({ strict: false })).addSchema(document as object, 'openapi');
  });
  afterAll(() => service.close());

  const operation = (route: string): Operation => {
    const [method, path] = route.split(' ') as [string, string];
    return document.paths[path][method.toLowerCase()];
  };
  const parameter = (route: string, name: string) =>
    operation(route).parameters.find((candidate) => candidate.name === name)!;

  it('is valid OpenAPI 3.1, with nothing left of 3.0', () => {
    expect(document.openapi).toBe('3.1.0');
    const validate = addFormats(new Ajv2020({ strict: false, validateFormats: false })).compile(
      openApiSchema,
    );
    validate(document);
    expect(validate.errors ?? []).toEqual([]);
    expect(JSON.stringify(document)).not.toContain('"nullable"');
  });

  it("lists exactly the contract's routes, and those of channels", () => {
    const routes = Object.entries(document.paths as Record<string, object>).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(routes.sort()).toEqual([...ROUTES, ...PUBLIC_ROUTES, ...WIDGET_ROUTES].sort());
  });

  it('gives every operation a name of its own', () => {
    const ids = [...ROUTES, ...PUBLIC_ROUTES, ...WIDGET_ROUTES].map((route) => operation(route).operationId);
    expect(new Set(ids).size).toBe(ids.length);
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

  it('resolves every reference it makes', () => {
    const references = JSON.stringify(document).match(/"\$ref":"[^"]+"/g)!;
    for (const reference of new Set(references)) {
      const pointer = reference.slice('"$ref":"#/'.length, -1).split('/');
      expect(pointer.reduce((node, part) => node?.[part], document)).toBeDefined();
    }
  });

  it.each([
    ['GET /api/v1/me', []],
    ['GET /api/v1/conversations', ['conversations:read']],
    ['GET /api/v1/conversations/{id}', ['conversations:read']],
    ['PATCH /api/v1/conversations/{id}', ['conversations:write']],
    ['GET /api/v1/conversations/{id}/messages', ['messages:read', 'conversations:read']],
    ['POST /api/v1/conversations/{id}/messages', ['messages:write']],
    ['GET /api/v1/contacts', ['contacts:read']],
  ])('%s asks for a key in either header, with a scope of %j', (route, scopes) => {
    const alternatives = scopes.length > 0 ? scopes.map((scope) => [scope]) : [[]];
    expect(operation(route).security).toHaveLength(2 * alternatives.length);
    expect(operation(route).security).toEqual(
      expect.arrayContaining(alternatives.flatMap((needed) => [{ bearer: needed }, { apiKey: needed }])),
    );
    expect(document.components.securitySchemes).toEqual({
      bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'plk_…' },
      apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
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
  ])('%s can answer %s', (route, statuses) => {
    const { responses } = operation(route);
    expect(Object.keys(responses)).toEqual(statuses.split(' '));
    for (const status of ['429', '503']) expect(responses[status]!.headers).toHaveProperty('Retry-After');
  });

  it('bounds the page parameters', () => {
    for (const route of ['conversations', 'conversations/{id}/messages', 'contacts']) {
      const limit = parameter(`GET /api/v1/${route}`, 'limit');
      expect(limit).toMatchObject({
        in: 'query',
        required: false,
        schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
      });
      expect(parameter(`GET /api/v1/${route}`, 'cursor')).toMatchObject({ in: 'query', required: false });
    }
    expect(parameter('GET /api/v1/conversations', 'status').schema.enum).toEqual([
      'OPEN',
      'SNOOZED',
      'CLOSED',
    ]);
    expect(parameter('GET /api/v1/conversations', 'channel').schema.enum).toEqual([
      'WIDGET',
      'WHATSAPP',
      'TELEGRAM',
      'MESSENGER',
      'INSTAGRAM',
    ]);
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
      Object.values(body?.content ?? {}),
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

  it('lists every event of the catalog as a webhook, whole', () => {
    const types = Object.keys(eventCatalog);
    expect(Object.keys(document.webhooks as object)).toEqual(types);
    for (const type of types) {
      const { parameters, requestBody } = document.webhooks[type].post;
      expect(parameters.map(({ name }: { name: string }) => name)).toEqual([
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
      const validate = ajv.compile(schema as object);
      validate(example);
      expect(validate.errors ?? []).toEqual([]);
      expect(example.event).toBe(type);
      expect(validate({ ...example, event: 'another.event' })).toBe(false);
    }
  });

  it('is a page to read, from this server alone', async () => {
    const page = await fetch(`${service.baseUrl}/docs`);
    const html = await page.text();
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    const assets = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address!);
    expect(assets.length).toBeGreaterThan(2);
    for (const asset of assets) {
      expect(asset).not.toMatch(/^(https?:)?\/\//);
      const answer = await fetch(new URL(asset, `${service.baseUrl}/docs`));
      expect([answer.status, (await answer.text()).length > 0]).toEqual([200, true]);
    }
  });
});

/** Returns a schema of the document with references that work outside the document. */
function absolute(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"openapi#/'));
}
