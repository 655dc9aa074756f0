import { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ERROR_STATUS } from '../common/app-error';
import { Config } from '../config/config';
import { description } from './description';
import { Operation, RequestBody, Schema } from './document-types';
import { headerComponents } from './headers';
import { resolveSchema, schemaExample } from './schema-example';
import { webhooks } from './webhooks';

const DOCUMENT_PATH = 'api/v1/openapi.json';
const PAGE_PATH = 'docs';

/** Serves the OpenAPI document, and a page to read it. It is built at the first request for it, not at the start. */
export function setupOpenApi(app: NestExpressApplication, config: Config): void {
  SwaggerModule.setup(PAGE_PATH, app, () => openApiDocument(app, config), {
    jsonDocumentUrl: DOCUMENT_PATH,
    raw: ['json'],
    customSiteTitle: 'Conversation Messaging Service',
    swaggerOptions: { tryItOutEnabled: false, validatorUrl: null },
  });
}

/** The API as its routes are declared, and the events that are sent. */
export function openApiDocument(app: NestExpressApplication, { appUrl }: Config): OpenAPIObject {
  const document = SwaggerModule.createDocument(app, base(appUrl), {
    operationIdFactory: (controller, method) => `${controller.replace('Controller', '')}_${method}`,
  });
  for (const operation of operationsOf(document)) {
    operation.parameters = [...(operation.parameters ?? []), requestIdParameter];
    addExamples(operation, document);
    closeRequestBody(operation, document);
  }
  for (const { patch } of Object.values(document.paths)) if (patch) requireChange(patch, document);
  return document;
}

function base(appUrl: string): Omit<OpenAPIObject, 'paths'> {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Conversation Messaging Service')
    .setDescription(description)
    .setVersion('v1')
    .setExternalDoc(
      'Where API keys and webhook endpoints are made',
      `${appUrl.replace(/\/$/, '')}/settings/api-keys`,
    )
    .addServer('/')
    .addTag('Me', 'Who a key is.')
    .addTag('Conversations', 'Conversations with customers.')
    .addTag('Messages', 'What was said in them.')
    .addTag('Contacts', 'The customers.')
    .addTag('Webhooks', 'What the service sends.')
    .addTag('Channels', 'Where the providers of channels call. They have no key: they sign what they send.')
    .addTag(
      'Widget',
      'What the widget on a workspace’s pages speaks with: sessions of visitors, with tokens of their own.',
    )
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'plk_…' }, 'bearer')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'x-api-key' }, 'apiKey')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }, 'visitor')
    .build();
  const { components } = builder;
  return {
    ...builder,
    webhooks: webhooks(),
    components: { ...components, headers: headerComponents, schemas: { Error: errorSchema } },
  };
}

const requestIdParameter = {
  name: 'X-Request-Id',
  in: 'header' as const,
  required: false,
  description: 'An id of your own for the request. One that is not well formed is replaced, never refused.',
  schema: { type: 'string', pattern: '^[\\w.:-]{1,128}$', example: 'sync-2026-11-20-0042' },
};

const errorSchema: Schema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'requestId'],
      properties: {
        code: { type: 'string', enum: Object.keys(ERROR_STATUS) },
        message: { type: 'string', description: 'For people. Its wording may change.' },
        details: {
          type: 'array',
          description: 'What is wrong with which field.',
          items: {
            type: 'object',
            required: ['field', 'message'],
            properties: { field: { type: 'string' }, message: { type: 'string' } },
          },
        },
        requestId: { type: 'string', description: 'The same as in the X-Request-Id header.' },
      },
    },
  },
};

function operationsOf({ paths }: OpenAPIObject): Operation[] {
  return Object.values(paths).flatMap(({ get, post, patch }) =>
    [get, post, patch].filter((operation) => operation !== undefined),
  );
}

/** Every body gets an example, made of its fields' own. */
function addExamples({ requestBody, responses }: Operation, document: OpenAPIObject): void {
  const bodies = [requestBody, ...Object.values(responses)] as (Pick<RequestBody, 'content'> | undefined)[];
  for (const body of bodies) {
    const json = body?.content?.['application/json'];
    if (json?.schema && !json.examples) json.example = schemaExample(json.schema, document);
  }
}

/** What is sent to us may have no unknown fields. What we answer may grow, so answers say nothing of the kind. */
function closeRequestBody(operation: Operation, document: OpenAPIObject): void {
  Object.assign(requestSchema(operation, document), { additionalProperties: false });
}

/** A change that changes nothing is refused, although no field of it is required. */
function requireChange(operation: Operation, document: OpenAPIObject): void {
  Object.assign(requestSchema(operation, document), { minProperties: 1 });
}

function requestSchema({ requestBody }: Operation, document: OpenAPIObject): object {
  const schema = (requestBody as RequestBody | undefined)?.content['application/json']?.schema;
  return schema && '$ref' in schema ? resolveSchema(schema.$ref, document) : {};
}
