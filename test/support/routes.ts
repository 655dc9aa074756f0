import { Method } from 'axios';
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
}

const CONVERSATION: Thing = { noun: 'Conversation', idOf: ({ conversation }) => conversation.id };
const CONTACT: Thing = { noun: 'Contact', idOf: ({ conversation }) => conversation.contact.id };
/** Address at which nothing listens. */
const HOOK = 'https://127.0.0.1:9999/hook';
const ENDPOINT: Thing = { noun: 'Webhook endpoint', idOf: ({ findEndpoint }) => findEndpoint() };
const NEW_ENDPOINT: Thing = { noun: 'Webhook endpoint', idOf: ({ makeEndpoint }) => makeEndpoint() };
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
  { method: 'GET', path: '/api/v1/agents', scopes: ['agents:read'], success: 200 },
  { method: 'GET', path: '/api/v1/agents/:id', scopes: ['agents:read'], success: 200, thing: AGENT },
];

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
  { method, path, query, body }: Route,
  id: string,
  tenant?: Tenant,
): Promise<ApiResponse> {
  const address = path.replace(':id', id) + (query ? `?${query}` : '');
  return client.send({ method, path: address, body: await body?.(tenant!) });
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
  return { workspace, owner, key, conversation, client, reachContact, findEndpoint, makeEndpoint };
}

async function connectWidget(service: TestService, workspace: WorkspaceEntity): Promise<string> {
  const widget = { channel: 'WIDGET' as const, credentials: { allowedOrigins: ['https://shop.example'] } };
  await service.app.get(ChannelConnectionsService, { strict: false }).connect(workspace.id, widget, SYSTEM);
  const identity = { channel: 'WIDGET' as const, externalId: 'visitor-1' };
  return (await service.make.contact(workspace, { name: 'Zoë Martín', identity })).id;
}
