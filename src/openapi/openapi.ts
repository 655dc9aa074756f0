import type { INestApplication } from '@nestjs/common';
import type { Express } from 'express';
import { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { Config } from '../config/config';
import { sendKept } from '../http/connections/kept-bytes';
import { errorSchemas, pickComponents, shareErrors } from './components';
import { channelsDescription, description } from './description';
import { Components, Operation, RequestBody, Schema, SchemaOrReference } from './document-types';
import { headerComponents } from './headers';
import { toOpenApi30 } from './openapi-30';
import { endpointCallbacks, eventSchemas, WEBHOOK_EVENT, webhooks } from './webhooks';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;
const VERSION = '3.1.0';
const API_PATH = '/api/v1/';
const CHANNELS_PATH = '/channels/';
const DOCUMENT = 'openapi.json';
const DOCUMENT_30 = 'openapi-3.0.json';
/** Types of bodies that are files, or have one. */
const FILE_TYPES = ['application/octet-stream', 'multipart/form-data', '*/*'];
const ENDPOINTS_PATH = '/api/v1/webhook-endpoints';

type DocumentSettings = Pick<Config, 'appUrl' | 'publicUrl'>;

export interface OpenApiDocuments {
  /** Document of the routes of the REST API, and of the webhooks. */
  api: OpenAPIObject;
  /** Document of the routes that the channels' providers and the widget call. */
  channels: OpenAPIObject;
}

/**
 * Serves the OpenAPI documents. Builds them at the first request and stores their bytes, because a build
 * takes milliseconds and anyone may request a document at any rate.
 */
export function setupOpenApi(app: NestExpressApplication, config: Config): void {
  let documents: OpenApiDocuments | undefined;
  const read = () => (documents ??= openApiDocuments(app, config));
  serve(app, API_PATH + DOCUMENT, () => read().api);
  serve(app, API_PATH + DOCUMENT_30, () => toOpenApi30(read().api));
  serve(app, CHANNELS_PATH + DOCUMENT, () => read().channels);
}

function serve(app: NestExpressApplication, path: string, read: () => OpenAPIObject): void {
  let bytes: Buffer | undefined;
  const express: Express = app.getHttpAdapter().getInstance();
  express.get(path, (_, response) => {
    bytes ??= Buffer.from(JSON.stringify(read()));
    sendKept(response.type('application/json'), bytes);
  });
}

/** Builds the documents from the routes of the application and the event catalog. */
export function openApiDocuments(app: INestApplication, settings: DocumentSettings): OpenApiDocuments {
  const document = SwaggerModule.createDocument(
    app,
    new DocumentBuilder().setOpenAPIVersion(VERSION).build(),
    {
      operationIdFactory: operationIdOf,
    },
  );
  const operations = operationsOf(document);
  for (const operation of operations) {
    operation.parameters = [
      ...(operation.parameters ?? []),
      { $ref: `#/components/parameters/${REQUEST_ID_PARAMETER.name}` },
    ];
    addExamples(operation, document);
    closeRequestBody(operation, document);
  }
  Object.assign(document.paths[ENDPOINTS_PATH]!.post!, { callbacks: endpointCallbacks() });
  for (const { patch } of Object.values(document.paths)) if (patch) requireChange(patch, document);
  const components: Components = {
    schemas: { ...document.components?.schemas, ...errorSchemas, ...eventSchemas() },
    responses: shareErrors(operations),
    parameters: { [REQUEST_ID_PARAMETER.name]: REQUEST_ID_PARAMETER },
    headers: headerComponents,
  };
  const pathsBelow = (prefix: string) =>
    Object.fromEntries(Object.entries(document.paths).filter(([path]) => path.startsWith(prefix)));
  return {
    api: withComponents(
      { ...apiHead(settings), paths: pathsBelow(API_PATH), webhooks: webhooks() },
      components,
    ),
    channels: withComponents({ ...channelsHead(settings), paths: pathsBelow(CHANNELS_PATH) }, components),
  };
}

/** Adds the components that a document refers to. If it has webhooks, adds the union of all events too. */
function withComponents(document: OpenAPIObject, components: Components): OpenAPIObject {
  const { webhooks: sent, paths } = document;
  const picked = pickComponents([paths, sent, sent && { $ref: WEBHOOK_EVENT }], components);
  return { ...document, components: { ...document.components, ...picked } };
}

type Head = Omit<OpenAPIObject, 'paths'>;

function apiHead(settings: DocumentSettings): Head {
  const builder = new DocumentBuilder()
    .addTag('Me', 'Who a key is.')
    .addTag('Conversations', 'Conversations with customers.')
    .addTag('Messages', 'Messages of conversations.')
    .addTag('Uploads', 'Files that messages can take.')
    .addTag('Attachments', 'Files of messages.')
    .addTag('Contacts', 'The customers.')
    .addTag('Agents', 'Who answers customers: people and bot accounts.')
    .addTag('Webhooks', 'What the service sends.')
    .addTag('Webhook endpoints', 'Addresses to which the service sends events.')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'plk_…' }, 'bearer')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'x-api-key' }, 'apiKey');
  return headOf(builder, { title: 'Conversation Messaging Service', description, settings });
}

function channelsHead(settings: DocumentSettings): Head {
  const builder = new DocumentBuilder()
    .addTag('Channels', 'What the providers of channels call. They have no key: they sign their requests.')
    .addTag(
      'Widget',
      'What the widget on a workspace’s pages calls: sessions of visitors, with tokens of their own.',
    )
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }, 'visitor');
  const title = 'Conversation Messaging Service: channels';
  return headOf(builder, { title, description: channelsDescription, settings });
}

interface HeadContent {
  title: string;
  description: string;
  settings: DocumentSettings;
}

function headOf(
  builder: DocumentBuilder,
  { title, description: text, settings: { appUrl, publicUrl } }: HeadContent,
): Head {
  const dashboard = appUrl.replace(/\/$/, '');
  const head = builder
    .setOpenAPIVersion(VERSION)
    .addServer(publicUrl, 'This service')
    .setExternalDoc('Where API keys and webhook endpoints are made', `${dashboard}/settings/api-keys`)
    .build();
  const info = {
    title,
    description: text,
    version: 'v1',
    contact: { name: 'Dashboard', url: dashboard },
    license: { name: 'MIT', identifier: 'MIT' },
  };
  return { ...head, info };
}

const REQUEST_ID_PARAMETER = {
  name: 'X-Request-Id',
  in: 'header' as const,
  required: false,
  description: 'Your own id for the request. A malformed one is replaced, never refused.',
  schema: { type: 'string', pattern: '^[\\w.:-]{1,128}$', example: 'sync-2026-11-20-0042' },
};

function operationsOf({ paths }: OpenAPIObject): Operation[] {
  return Object.values(paths).flatMap((path) =>
    METHODS.map((method) => path[method]).filter((operation) => operation !== undefined),
  );
}

function addExamples({ requestBody, responses }: Operation, document: OpenAPIObject): void {
  const bodies = [requestBody, ...Object.values(responses)] as (Pick<RequestBody, 'content'> | undefined)[];
  for (const body of bodies) {
    const json = body?.content?.['application/json'];
    if (json?.schema && !json.examples) json.example = schemaExample(json.schema, document);
    for (const type of FILE_TYPES) {
      const file = body?.content?.[type];
      if (file?.schema) file.example = schemaExample(file.schema, document);
    }
  }
}

/** Forbids unknown fields in request bodies. Responses may get new fields, so their schemas stay open. */
function closeRequestBody(operation: Operation, document: OpenAPIObject): void {
  Object.assign(requestSchema(operation, document), { additionalProperties: false });
}

/** Requires at least one field in the body of a PATCH, all of whose fields are optional. */
function requireChange(operation: Operation, document: OpenAPIObject): void {
  Object.assign(requestSchema(operation, document), { minProperties: 1 });
}

function requestSchema({ requestBody }: Operation, document: OpenAPIObject): object {
  const schema = (requestBody as RequestBody | undefined)?.content['application/json']?.schema;
  return schema && '$ref' in schema ? resolveSchema(schema.$ref, document) : {};
}

/**
 * Makes an operation's id from its controller and method: `listConversations`, `getConversation`, or
 * `rollWebhookEndpointSecret` for the method `rollSecret` of `WebhookEndpointsController`.
 */
function operationIdOf(controller: string, method: string): string {
  const [, verb, rest] = /^([a-z]+)(.*)$/.exec(method)!;
  const things = controller.replace(/Controller$/, '');
  const isOfMany = rest === '' && (verb === 'list' || verb === 'search');
  return verb + (isOfMany ? things : things.replace(/s$/, '')) + rest;
}

function schemaExample(schema: SchemaOrReference, document: OpenAPIObject): unknown {
  if ('$ref' in schema) return schemaExample(resolveSchema(schema.$ref, document), document);
  if (schema.example !== undefined) return schema.example;
  if (schema.type === 'array') return schema.items ? [schemaExample(schema.items, document)] : [];
  if (schema.properties) {
    const fields = Object.entries(schema.properties);
    return Object.fromEntries(fields.map(([name, field]) => [name, schemaExample(field, document)]));
  }
  return null;
}

function resolveSchema(reference: string, { components }: OpenAPIObject): Schema {
  return components!.schemas![reference.split('/').at(-1)!] as Schema;
}
