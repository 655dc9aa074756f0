import type { Express } from 'express';
import { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { API_ERROR_STATUS } from '../common/app-error';
import { Config } from '../config/config';
import { description } from './description';
import { Operation, RequestBody, Schema } from './document-types';
import { headerComponents } from './headers';
import { resolveSchema, schemaExample } from './schema-example';
import { webhooks } from './webhooks';

/** Methods that a path of an OpenAPI document can have. */
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;
const DOCUMENT_PATH = 'api/v1/openapi.json';
const PAGE_PATH = 'docs';
/** Path of the folder with the scripts and styles of the page that shows the OpenAPI document. */
export const DOCS_FILES_PATH = `/${PAGE_PATH}/`;

/**
 * Serves the OpenAPI document and a page to read it. Both are built at the first request. The document's
 * bytes are kept: writing them takes milliseconds, and any stranger may ask for the document as often as they
 * like.
 */
export function setupOpenApi(app: NestExpressApplication, config: Config): void {
  let bytes: Buffer | undefined;
  const express: Express = app.getHttpAdapter().getInstance();
  express.get(`/${DOCUMENT_PATH}`, (_, response) => {
    bytes ??= Buffer.from(JSON.stringify(openApiDocument(app, config)));
    response.type('application/json').send(bytes);
  });
  SwaggerModule.setup(PAGE_PATH, app, () => openApiDocument(app, config), {
    raw: false,
    customSiteTitle: 'Conversation Messaging Service',
    swaggerOptions: { tryItOutEnabled: false, validatorUrl: null },
  });
}

/** Builds the document of the routes, as they are declared, and of the webhook events. */
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
    .addTag('Messages', 'Their messages.')
    .addTag('Contacts', 'The customers.')
    .addTag('Webhooks', 'What the service sends.')
    .addTag('Channels', 'What the providers of channels call. They have no key: they sign their requests.')
    .addTag(
      'Widget',
      'What the widget on a workspace’s pages calls: sessions of visitors, with tokens of their own.',
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
  description: 'Your own id for the request. A malformed one is replaced, never refused.',
  schema: { type: 'string', pattern: '^[\\w.:-]{1,128}$', example: 'sync-2026-11-20-0042' },
};

const errorValuesSchema: Schema = {
  type: 'object',
  additionalProperties: true,
  description: 'Values that the message holds, such as a limit.',
};

const errorSchema: Schema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'requestId'],
      properties: {
        code: { type: 'string', enum: Object.keys(API_ERROR_STATUS) },
        message: { type: 'string', description: 'For people. Its wording may change.' },
        reason: { type: 'string', description: 'Says more than the code. New reasons may appear.' },
        values: errorValuesSchema,
        details: {
          type: 'array',
          description: 'What is wrong with which field.',
          items: {
            type: 'object',
            required: ['field', 'message'],
            properties: {
              field: { type: 'string' },
              message: { type: 'string' },
              code: { type: 'string', description: 'Says what is wrong. New codes may appear.' },
              values: errorValuesSchema,
            },
          },
        },
        requestId: { type: 'string', description: 'The same as in the X-Request-Id header.' },
      },
    },
  },
};

function operationsOf({ paths }: OpenAPIObject): Operation[] {
  return Object.values(paths).flatMap((path) =>
    METHODS.map((method) => path[method]).filter((operation) => operation !== undefined),
  );
}

/** Makes each body's example from the examples of its fields. */
function addExamples({ requestBody, responses }: Operation, document: OpenAPIObject): void {
  const bodies = [requestBody, ...Object.values(responses)] as (Pick<RequestBody, 'content'> | undefined)[];
  for (const body of bodies) {
    const json = body?.content?.['application/json'];
    if (json?.schema && !json.examples) json.example = schemaExample(json.schema, document);
  }
}

/** Forbids unknown fields in request bodies. Responses may grow, so their schemas stay open. */
function closeRequestBody(operation: Operation, document: OpenAPIObject): void {
  Object.assign(requestSchema(operation, document), { additionalProperties: false });
}

/**
 * Requires at least one field in the body of a PATCH: minProperties is how OpenAPI says so where every field
 * is optional.
 */
function requireChange(operation: Operation, document: OpenAPIObject): void {
  Object.assign(requestSchema(operation, document), { minProperties: 1 });
}

function requestSchema({ requestBody }: Operation, document: OpenAPIObject): object {
  const schema = (requestBody as RequestBody | undefined)?.content['application/json']?.schema;
  return schema && '$ref' in schema ? resolveSchema(schema.$ref, document) : {};
}
