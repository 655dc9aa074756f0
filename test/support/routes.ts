import { Readable } from 'node:stream';
import { Method } from 'axios';
import { KeyActor } from '../../src/access/principal';
import { UploadContents } from '../../src/attachments/uploads/upload-contents';
import { UploadsService } from '../../src/attachments/uploads/uploads.service';
import { ConversationKey } from '../../src/database/tables/table-declaration';
import { SendReply } from '../../src/messages/message.dto';
import { MessagesService } from '../../src/messages/messages.service';
import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { SYSTEM } from '../../src/access/principal';
import { Scope } from '../../src/access/permissions';
import { ConversationDetail } from '../../src/conversations/conversation.dto';
import { CreatedApiKey } from '../../src/auth/api-key.dto';
import { AgentEntity } from '../../src/workspaces/agent.entity';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { ApiClient, ApiResponse } from './api-client';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { TestService } from './service';

/** A route of the REST API, with an example of a successful call. */
export interface Route {
  method: Method;
  path: string;
  query?: string;
  /** Scopes of which a key needs one; without any, every key may call the route. */
  scopes: Scope[];
  /** Makes a body for one call in a workspace. */
  body?: (tenant: Tenant) => object | Promise<object>;
  /** Makes a body that is no JSON, with its content type, instead of `body`. */
  raw?: (tenant?: Tenant) => { type: string; bytes: string };
  success: number;
  /** Kind of thing that a path with an `:id` names. */
  thing?: Thing;
}

/** Kind of thing that the `:id` of a path names. */
interface Thing {
  /** Noun of the error, as in `Conversation not found.` */
  noun: string;
  /** Returns the id of a thing of the workspace for a call; of a new thing if the call uses it up. */
  idOf(tenant: Tenant): string | Promise<string>;
  /** Whether the thing is there for the key alone that made it: that of the tenant. */
  isOfKey?: true;
}

const CONVERSATION: Thing = { noun: 'Conversation', idOf: ({ conversation }) => conversation.id };
const CONTACT: Thing = { noun: 'Contact', idOf: ({ conversation }) => conversation.contact.id };
/** Address at which nothing listens. */
const HOOK = 'https://127.0.0.1:9999/hook';
const ENDPOINT: Thing = { noun: 'Webhook endpoint', idOf: ({ findEndpoint }) => findEndpoint() };
const NEW_ENDPOINT: Thing = { noun: 'Webhook endpoint', idOf: ({ makeEndpoint }) => makeEndpoint() };
const UPLOAD: Thing = { noun: 'Upload', isOfKey: true, idOf: ({ makeUpload }) => makeUpload() };
const ATTACHMENT: Thing = { noun: 'Attachment', idOf: ({ findAttachment }) => findAttachment() };
const AGENT: Thing = { noun: 'Agent', idOf: ({ owner }) => owner.id };

/** Routes that the service has had from the first. */
export const CONTRACT_ROUTES: Route[] = [
  { method: 'GET', path: '/api/v1/me', scopes: [], success: 200 },
  { method: 'GET', path: '/api/v1/conversations', scopes: ['conversations:read'], success: 200 },
  {
    method: 'GET',
    path: '/api/v1/conversations/:id',
    scopes: ['conversations:read'],
    success: 200,
    thing: CONVERSATION,
  },
  {
    method: 'PATCH',
    path: '/api/v1/conversations/:id',
    scopes: ['conversations:write'],
    body: () => ({ status: 'SNOOZED' }),
    success: 200,
    thing: CONVERSATION,
  },
  {
    method: 'GET',
    path: '/api/v1/conversations/:id/messages',
    scopes: ['messages:read', 'conversations:read'],
    success: 200,
    thing: CONVERSATION,
  },
  {
    method: 'POST',
    path: '/api/v1/conversations/:id/messages',
    scopes: ['messages:write'],
    body: () => ({ body: 'Hello' }),
    success: 201,
    thing: CONVERSATION,
  },
  { method: 'GET', path: '/api/v1/contacts', scopes: ['contacts:read'], success: 200 },
];

export const ROUTES: Route[] = [
  ...CONTRACT_ROUTES,
  {
    method: 'POST',
    path: '/api/v1/conversations',
    scopes: ['conversations:create'],
    body: async ({ reachContact }) => ({ contactId: await reachContact(), channel: 'WIDGET' }),
    success: 201,
  },
  {
    method: 'POST',
    path: '/api/v1/contacts',
    scopes: ['contacts:write'],
    body: () => ({ name: 'Zoë Martín' }),
    success: 201,
  },
  { method: 'GET', path: '/api/v1/contacts/:id', scopes: ['contacts:read'], success: 200, thing: CONTACT },
  {
    method: 'PATCH',
    path: '/api/v1/contacts/:id',
    scopes: ['contacts:write'],
    body: () => ({ attributes: { city: 'Valencia' } }),
    success: 200,
    thing: CONTACT,
  },
  {
    method: 'GET',
    path: '/api/v1/messages/search',
    query: 'q=parcel',
    scopes: ['conversations:read'],
    success: 200,
  },
  { method: 'GET', path: '/api/v1/webhook-endpoints', scopes: ['webhooks:read'], success: 200 },
  {
    method: 'GET',
    path: '/api/v1/webhook-endpoints/:id',
    scopes: ['webhooks:read'],
    success: 200,
    thing: ENDPOINT,
  },
  {
    method: 'POST',
    path: '/api/v1/webhook-endpoints',
    scopes: ['webhooks:write'],
    body: () => ({ url: HOOK, events: ['webhook.test'] }),
    success: 201,
  },
  {
    method: 'PATCH',
    path: '/api/v1/webhook-endpoints/:id',
    scopes: ['webhooks:write'],
    body: () => ({ name: 'CRM' }),
    success: 200,
    thing: ENDPOINT,
  },
  {
    method: 'DELETE',
    path: '/api/v1/webhook-endpoints/:id',
    scopes: ['webhooks:write'],
    success: 204,
    thing: NEW_ENDPOINT,
  },
  {
    method: 'POST',
    path: '/api/v1/webhook-endpoints/:id/test',
    scopes: ['webhooks:write'],
    success: 200,
    thing: ENDPOINT,
  },
  {
    method: 'POST',
    path: '/api/v1/webhook-endpoints/:id/roll-secret',
    scopes: ['webhooks:write'],
    body: () => ({ gracePeriodSeconds: 0 }),
    success: 200,
    thing: ENDPOINT,
  },
  {
    method: 'POST',
    path: '/api/v1/uploads',
    scopes: ['messages:write'],
    body: ({ conversation }) => ({ conversationId: conversation.id, name: 'a.txt', size: 2 }),
    success: 201,
  },
  { method: 'GET', path: '/api/v1/uploads/:id', scopes: ['messages:write'], success: 200, thing: UPLOAD },
  {
    method: 'PUT',
    path: '/api/v1/uploads/:id/content',
    scopes: ['messages:write'],
    raw: () => ({ type: 'application/octet-stream', bytes: '{}' }),
    success: 200,
    thing: UPLOAD,
  },
  { method: 'DELETE', path: '/api/v1/uploads/:id', scopes: ['messages:write'], success: 204, thing: UPLOAD },
  {
    method: 'POST',
    path: '/api/v1/attachments',
    scopes: ['messages:write'],
    raw: (tenant) => ({ type: 'multipart/form-data; boundary=x', bytes: formOf(tenant) }),
    success: 201,
  },
  {
    method: 'GET',
    path: '/api/v1/attachments/:id',
    scopes: ['messages:read', 'conversations:read'],
    success: 200,
    thing: ATTACHMENT,
  },
  {
    method: 'GET',
    path: '/api/v1/attachments/:id/content',
    scopes: ['messages:read', 'conversations:read'],
    success: 200,
    thing: ATTACHMENT,
  },
  {
    method: 'POST',
    path: '/api/v1/attachments/:id/retry',
    scopes: ['messages:write'],
    success: 200,
    thing: ATTACHMENT,
  },
  { method: 'GET', path: '/api/v1/agents', scopes: ['agents:read'], success: 200 },
  { method: 'GET', path: '/api/v1/agents/:id', scopes: ['agents:read'], success: 200, thing: AGENT },
];

/** Returns the status of a route for another key than the tenant's. */
export function successOfOtherKey({ success, thing }: Route): number {
  return thing?.isOfKey ? 404 : success;
}

export const ROUTES_WITH_ID = ROUTES.filter(
  (route): route is Route & { thing: Thing } => route.thing !== undefined,
);
export const WRITES = ROUTES.filter(({ method }) => method !== 'GET');
export const READS = ROUTES.filter(({ method }) => method === 'GET');

export function nameOf({ method, path }: Route): string {
  return `${method} ${path}`;
}

/** Calls a route with an id. The body is for the workspace, where it depends on one. */
export async function call(
  client: ApiClient,
  { method, path, query, body, raw }: Route,
  id: string,
  tenant?: Tenant,
): Promise<ApiResponse> {
  const address = path.replace(':id', id) + (query ? `?${query}` : '');
  const { type, bytes } = raw?.(tenant) ?? {};
  const headers = type ? { 'content-type': type } : undefined;
  return client.send({ method, path: address, body: await body?.(tenant!), raw: bytes, headers });
}

/** Calls a route with the id of a thing of the workspace. */
export async function callIn(tenant: Tenant, route: Route, client = tenant.client): Promise<ApiResponse> {
  return call(client, route, (await route.thing?.idOf(tenant)) ?? '', tenant);
}

/** A workspace with an owner, a key of all scopes, and a conversation: every route needs them to work. */
export interface Tenant {
  workspace: WorkspaceEntity;
  owner: AgentEntity;
  key: CreatedApiKey;
  conversation: ConversationDetail;
  client: ApiClient;
  /** Connects the widget, and returns the id of a contact who has written there; the same at each call. */
  reachContact: () => Promise<string>;
  /** Returns the id of an endpoint at which nothing listens; the same at each call. */
  findEndpoint: () => Promise<string>;
  /** Makes such an endpoint. */
  makeEndpoint: () => Promise<string>;
  /** Makes an upload of two bytes by the key, without content. */
  makeUpload: () => Promise<string>;
  /** Returns the id of an attachment, whose content is JSON; the same at each call. */
  findAttachment: () => Promise<string>;
}

export async function createTenant(
  service: TestService,
  made: Promise<WorkspaceEntity> = service.make.workspace(),
): Promise<Tenant> {
  const workspace = await made;
  const owner = await service.make.agent(workspace);
  const key = await service.make.apiKey(workspace);
  const conversation = await service.make.conversation(workspace);
  let contactId: Promise<string> | undefined;
  const reachContact = () => (contactId ??= connectWidget(service, workspace));
  const makeEndpoint = async () => {
    const endpoints = service.app.get(WebhookEndpointsService, { strict: false });
    return (await endpoints.create(workspace.id, { url: HOOK, events: ['webhook.test'] }, SYSTEM)).id;
  };
  let endpointId: Promise<string> | undefined;
  const findEndpoint = () => (endpointId ??= makeEndpoint());
  const client = service.client.as(key);
  // The services do not count these calls for the rate limit of the key's workspace.
  const uploader = { type: 'api_key' as const, id: key.id };
  const makeUpload = async () => {
    const uploads = service.app.get(UploadsService, { strict: false });
    const upload = { conversationId: conversation.id, name: 'a.txt', size: 2 };
    return (await uploads.create(workspace.id, upload, uploader)).id;
  };
  let attachmentId: Promise<string> | undefined;
  const findAttachment = () =>
    (attachmentId ??= makeUpload().then((uploadId) =>
      attach(service, { tenantId: workspace.id, conversationId: conversation.id }, uploadId, uploader),
    ));
  const things = { reachContact, findEndpoint, makeEndpoint, makeUpload, findAttachment };
  return { workspace, owner, key, conversation, client, ...things };
}

/** Sends a message with an upload, whose content becomes an empty JSON object. */
async function attach(
  service: TestService,
  { tenantId, conversationId }: ConversationKey,
  uploadId: string,
  uploader: KeyActor,
): Promise<string> {
  const contents = service.app.get(UploadContents, { strict: false });
  const owner = { tenantId, uploader: uploader.id };
  await contents.storeUnsized(
    owner,
    uploadId,
    Readable.from([Buffer.from('{}')]),
    AbortSignal.timeout(10_000),
  );
  const message = { body: 'A file', attachments: [{ uploadId }] } as SendReply;
  const messages = service.app.get(MessagesService, { strict: false });
  const sent = await messages.send(tenantId, conversationId, message, uploader);
  return sent.message.attachments[0]!.id;
}

function formOf(tenant: Tenant | undefined): string {
  const lines = ['--x', 'content-disposition: form-data; name="conversationId"', '', tenant?.conversation.id];
  const file = [
    '--x',
    'content-disposition: form-data; name="file"; filename="a.txt"',
    '',
    '{}',
    '--x--',
    '',
  ];
  return [...lines, ...file].join('\r\n');
}

async function connectWidget(service: TestService, workspace: WorkspaceEntity): Promise<string> {
  const widget = { channel: 'WIDGET' as const, credentials: { allowedOrigins: ['https://shop.example'] } };
  await service.app.get(ChannelConnectionsService, { strict: false }).connect(workspace.id, widget, SYSTEM);
  const identity = { channel: 'WIDGET' as const, externalId: 'visitor-1' };
  return (await service.make.contact(workspace, { name: 'Zoë Martín', identity })).id;
}
