import { randomUUID } from 'node:crypto';
import { Method } from 'axios';
import { AgentRole } from '../../src/access/permissions';
import { SYSTEM } from '../../src/access/principal';
import { ApiKeysService } from '../../src/auth/api-keys.service';
import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { InvitationsService } from '../../src/logins/invitations/invitations.service';
import { NotesService } from '../../src/inbox/notes/notes.service';
import { SavedRepliesService } from '../../src/inbox/saved-replies/saved-replies.service';
import { WebhookTestService } from '../../src/webhooks/testing/webhook-test.service';
import { WebhookDeliveriesService } from '../../src/webhooks/browsing/webhook-deliveries.service';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { WebhookRecoveriesService } from '../../src/webhooks/recoveries/webhook-recoveries.service';
import { AgentEntity } from '../../src/workspaces/agent.entity';
import { UploadsService } from '../../src/attachments/uploads/uploads.service';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { Answer, Browser, PASSWORD, TestDashboard } from './test-dashboard';
import { TestService } from './service';

/** A route below a workspace, with an example of a successful call. */
export interface WorkspaceRoute {
  method: Method;
  /** Path below `/api/workspaces/:workspaceId`. */
  path: string;
  query?: string;
  /** True if the answer is a stream, which does not end by itself. */
  isStream?: true;
  success: number;
  body?: (settings: Settings) => object | Promise<object>;
  /** Content of a body that is a file. */
  bytes?: Buffer;
  /** Whether the thing belongs to the agent who made it, so that colleagues do not find it. */
  isOwn?: true;
  /** Kind of thing that the `:id` names. */
  thing?: Thing;
  /** Roles that may call the route; all roles by default. */
  roles?: AgentRole[];
}

/** Kind of thing that the `:id` of a path names. */
interface Thing {
  /** Noun of the error, as in `API key not found.` */
  noun: string;
  /** Makes a new one, which a call may use up. */
  make(settings: Settings): Promise<string>;
}

/** The workspace of the calls, and a person who manages it. */
export interface Settings {
  dashboard: TestDashboard;
  workspace: WorkspaceEntity;
  owner: AgentEntity;
  browser: Browser;
  /** Address of a receiver that accepts webhooks. */
  receiverUrl: string;
}

const OWNERS: AgentRole[] = ['OWNER'];
const MANAGERS: AgentRole[] = ['OWNER', 'ADMIN'];
let count = 0;
/** Days that the last change of a retention has left. */
let days = 4_000;

const API_KEY: Thing = {
  noun: 'API key',
  make: async ({ dashboard, workspace }) => {
    const input = { name: 'CRM', scopes: ['contacts:read' as const] };
    return (await dashboard.get(ApiKeysService).create(workspace.id, input, SYSTEM)).id;
  },
};
/** Number of endpoints that are kept, below the cap of a workspace. */
const ENDPOINTS_KEPT = 20;

const ENDPOINT: Thing = {
  noun: 'Webhook endpoint',
  make: async ({ dashboard, workspace, receiverUrl }) => {
    const endpoints = dashboard.get(WebhookEndpointsService);
    for (const { id } of (await endpoints.list(workspace.id, SYSTEM)).slice(ENDPOINTS_KEPT))
      await endpoints.delete(workspace.id, id, SYSTEM);
    const input = { url: receiverUrl, events: ['*'] };
    return (await endpoints.create(workspace.id, input, SYSTEM)).id;
  },
};
const DELIVERY: Thing = {
  noun: 'Webhook delivery',
  make: async (settings) => {
    const { dashboard, workspace } = settings;
    const endpointId = await ENDPOINT.make(settings);
    await dashboard.get(WebhookTestService).test(workspace.id, endpointId, SYSTEM);
    const { data } = await dashboard.get(WebhookDeliveriesService).list(workspace.id, { endpointId }, SYSTEM);
    return data[0]!.id;
  },
};
/** A delivery that waits, because no worker runs. */
const PENDING_DELIVERY: Thing = {
  ...DELIVERY,
  make: async (settings) => {
    const id = await DELIVERY.make(settings);
    await settings.dashboard.get(WebhookDeliveriesService).redeliver(settings.workspace.id, id, SYSTEM);
    return id;
  },
};
const RECOVERY: Thing = {
  noun: 'Webhook recovery',
  make: async (settings) => {
    const endpointId = await ENDPOINT.make(settings);
    const recoveries = settings.dashboard.get(WebhookRecoveriesService);
    const since = new Date(Date.now() - 60_000);
    return (await recoveries.recoverMissed(settings.workspace.id, endpointId, { since }, SYSTEM)).id!;
  },
};
const CHANNEL: Thing = {
  noun: 'Channel connection',
  make: async ({ dashboard, workspace }) => {
    const channels = dashboard.get(ChannelConnectionsService);
    for (const { id } of await channels.list(workspace.id, SYSTEM))
      await channels.disconnect(workspace.id, id, SYSTEM);
    return (await channels.connect(workspace.id, WIDGET, SYSTEM)).id;
  },
};
const AGENT: Thing = {
  noun: 'Agent',
  make: async ({ dashboard, workspace }) => (await dashboard.make.agent(workspace, { role: 'AGENT' })).id,
};
const FORMER_AGENT: Thing = {
  noun: 'Agent',
  make: async ({ dashboard, workspace }) =>
    (await dashboard.make.agent(workspace, { role: 'AGENT', active: false })).id,
};
const MEMBER: Thing = {
  noun: 'Agent',
  make: async ({ dashboard, workspace }) => {
    const agent = await dashboard.make.agent(workspace, { role: 'AGENT' });
    await dashboard.logIn(agent);
    return agent.id;
  },
};
const INVITATION: Thing = {
  noun: 'Invitation',
  make: async (settings) => {
    const { dashboard, workspace } = settings;
    const agentId = await AGENT.make(settings);
    const sent = await dashboard.get(InvitationsService).invite(workspace.id, agentId, {}, SYSTEM);
    return sent.invitation.id;
  },
};

const CONVERSATION: Thing = {
  noun: 'Conversation',
  make: async ({ dashboard, workspace }) => (await dashboard.make.conversation(workspace)).id,
};

const UPLOADED = Buffer.from('Hi');
/** An upload that has no content yet. */
const UPLOAD: Thing = {
  noun: 'Upload',
  make: async (settings) => {
    const { dashboard, workspace, owner } = settings;
    const input = { conversationId: await CONVERSATION.make(settings), name: 'a.txt', size: UPLOADED.length };
    const actor = { type: 'agent' as const, id: owner.id };
    return (await dashboard.get(UploadsService).create(workspace.id, input, actor)).id;
  },
};

const ATTACHMENT: Thing = {
  noun: 'Attachment',
  make: async (settings) => {
    const { browser, workspace } = settings;
    const conversationId = await CONVERSATION.make(settings);
    const path = `/api/workspaces/${workspace.id}`;
    const input = { conversationId, name: 'a.txt', size: UPLOADED.length };
    const { body: upload } = await browser.post(`${path}/uploads`, input);
    await browser.putBytes(`${path}/uploads/${upload.id}/content`, UPLOADED);
    const reply = { attachments: [{ uploadId: upload.id }] };
    const { body } = await browser.post(`${path}/conversations/${conversationId}/messages`, reply);
    return body.message.attachments[0].id;
  },
};

/** Id that nothing has. */
const NO_ID = '019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11';
const CONTACT: Thing = {
  noun: 'Contact',
  make: async ({ dashboard, workspace }) => {
    const { id, updatedAt } = await dashboard.make.contact(workspace);
    editedAt = updatedAt;
    return id;
  },
};
/** Time at which the last contact was made, which an edit of it must name. */
let editedAt = new Date(0);
const SAVED_REPLY: Thing = {
  noun: 'Saved reply',
  make: async ({ dashboard, workspace }) => {
    const input = { name: `Reply ${(count += 1)}`, body: 'Thank you.' };
    return (await dashboard.get(SavedRepliesService).create(workspace.id, input, SYSTEM)).id;
  },
};
/** A note of another agent than who calls. */
const NOTE: Thing = {
  noun: 'Note',
  make: async (settings) => {
    const { dashboard, workspace } = settings;
    const author = { type: 'agent' as const, id: await AGENT.make(settings) };
    const conversationId = await CONVERSATION.make(settings);
    const input = { body: 'Ask Ana.' };
    return (await dashboard.get(NotesService).create(workspace.id, conversationId, input, author)).id;
  },
};

const WIDGET = { channel: 'WIDGET' as const, credentials: { allowedOrigins: ['https://shop.example'] } };

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

/** All routes below `/api/workspaces/:workspaceId`. */
export const WORKSPACE_ROUTES: WorkspaceRoute[] = [
  { method: 'GET', path: '/first-page', success: 200 },
  { method: 'GET', path: '/overview', success: 200 },
  {
    method: 'PATCH',
    path: '',
    success: 200,
    body: () => ({ messageRetentionDays: (days -= 1), password: PASSWORD }),
    roles: ['OWNER'],
  },
  {
    method: 'POST',
    path: '/second-factor-demand',
    success: 200,
    body: () => ({ graceDays: 14 }),
    roles: OWNERS,
  },
  { method: 'DELETE', path: '/second-factor-demand', success: 204, roles: OWNERS },
  { method: 'GET', path: '/second-factor-demand/fulfilling', success: 200, roles: MANAGERS },
  { method: 'GET', path: '/conversations', query: '?status=OPEN', success: 200 },
  { method: 'GET', path: '/conversations/counts', success: 200 },
  { method: 'GET', path: '/conversations/:id', success: 200, thing: CONVERSATION },
  { method: 'GET', path: '/conversations/:id/changes', success: 200, thing: CONVERSATION },
  { method: 'GET', path: '/conversations/:id/messages', success: 200, thing: CONVERSATION },
  {
    method: 'POST',
    path: '/conversations/:id/messages',
    success: 201,
    thing: CONVERSATION,
    body: () => ({ body: 'It is on its way.' }),
  },
  {
    method: 'PATCH',
    path: '/conversations/:id',
    success: 200,
    thing: CONVERSATION,
    body: () => ({ status: 'CLOSED' }),
  },
  {
    method: 'POST',
    path: '/conversations/:id/dismissals',
    success: 204,
    thing: CONVERSATION,
    body: () => ({ messageId: randomUUID() }),
  },
  { method: 'GET', path: '/conversations/unread', success: 200 },
  {
    method: 'PUT',
    path: '/conversations/:id/read-mark',
    success: 204,
    thing: CONVERSATION,
    body: () => ({ messageId: randomUUID() }),
  },
  { method: 'DELETE', path: '/conversations/:id/read-mark', success: 204, thing: CONVERSATION },
  { method: 'GET', path: '/conversations/:id/reply-check', success: 200, thing: CONVERSATION },
  { method: 'GET', path: '/contacts', query: '?q=zo', success: 200 },
  { method: 'POST', path: '/contacts', success: 201, body: () => ({ name: 'Zoë' }) },
  { method: 'GET', path: '/contacts/:id', success: 200, thing: CONTACT },
  {
    method: 'PATCH',
    path: '/contacts/:id',
    success: 200,
    thing: CONTACT,
    body: () => ({ updatedAt: editedAt, name: 'Zoë' }),
  },
  { method: 'GET', path: '/contacts/:id/conversations', success: 200, thing: CONTACT },
  { method: 'GET', path: '/contacts/:id/erasure', success: 200, thing: CONTACT },
  { method: 'POST', path: '/contacts/:id/erasure', success: 200, thing: CONTACT, roles: MANAGERS },
  { method: 'GET', path: '/contacts/:id/export', success: 200, thing: CONTACT, roles: MANAGERS },
  { method: 'GET', path: '/conversations/:id/notes', success: 200, thing: CONVERSATION },
  {
    method: 'POST',
    path: '/conversations/:id/notes',
    success: 201,
    thing: CONVERSATION,
    body: () => ({ body: 'Ask Ana.' }),
  },
  { method: 'GET', path: '/uploads/limits', success: 200 },
  {
    method: 'POST',
    path: '/uploads',
    success: 201,
    body: async (settings) => ({
      conversationId: await CONVERSATION.make(settings),
      name: 'a.txt',
      size: UPLOADED.length,
    }),
  },
  {
    method: 'PUT',
    path: '/uploads/:id/content',
    success: 200,
    thing: UPLOAD,
    bytes: UPLOADED,
    isOwn: true,
  },
  { method: 'DELETE', path: '/uploads/:id', success: 204, thing: UPLOAD, isOwn: true },
  { method: 'GET', path: '/attachments/:id/content', success: 200, thing: ATTACHMENT },
  { method: 'POST', path: '/attachments/:id/retry', success: 200, thing: ATTACHMENT },
  { method: 'GET', path: '/saved-replies', success: 200 },
  {
    method: 'POST',
    path: '/saved-replies',
    success: 201,
    body: () => ({ name: `Thanks ${(count += 1)}`, body: 'Thank you.' }),
    roles: MANAGERS,
  },
  {
    method: 'PATCH',
    path: '/saved-replies/:id',
    success: 200,
    thing: SAVED_REPLY,
    body: () => ({ body: 'Thanks.' }),
    roles: MANAGERS,
  },
  { method: 'DELETE', path: '/saved-replies/:id', success: 204, thing: SAVED_REPLY, roles: MANAGERS },
  { method: 'GET', path: '/drafts', success: 200 },
  { method: 'GET', path: '/conversations/:id/draft', success: 200, thing: CONVERSATION },
  {
    method: 'PUT',
    path: '/conversations/:id/draft',
    success: 200,
    thing: CONVERSATION,
    body: () => ({ body: 'Dear' }),
  },
  { method: 'DELETE', path: '/notes/:id', success: 204, thing: NOTE, roles: MANAGERS },
  { method: 'GET', path: '/inbox/search', query: '?text=parcel', success: 200 },
  { method: 'GET', path: '/inbox/search/contacts', query: '?text=parcel', success: 200 },
  { method: 'GET', path: '/inbox/stream', success: 200, isStream: true },
  { method: 'GET', path: '/inbox/presence', query: `?conversationIds=${NO_ID}`, success: 200 },
  {
    method: 'POST',
    path: '/inbox/presence',
    success: 204,
    body: () => ({ conversationId: NO_ID, act: 'LOOKING' }),
  },
  { method: 'POST', path: '/inbox/presence/active', success: 204 },
  { method: 'GET', path: '/notice-choices', success: 200 },
  { method: 'PATCH', path: '/notice-choices', success: 200, body: () => ({ mailMatters: ['MINE'] }) },
  { method: 'GET', path: '/agents', success: 200 },
  {
    method: 'POST',
    path: '/agents',
    success: 201,
    body: () => ({ name: 'Ben', email: `ben-${(count += 1)}@example.com`, role: 'AGENT' }),
    roles: MANAGERS,
  },
  {
    method: 'PATCH',
    path: '/agents/:id',
    success: 200,
    thing: AGENT,
    body: () => ({ displayName: 'Ben of Acme', role: 'ADMIN' }),
    roles: MANAGERS,
  },
  { method: 'POST', path: '/agents/:id/erase', success: 204, thing: FORMER_AGENT, roles: OWNERS },
  { method: 'POST', path: '/agents/:id/invitation', success: 201, thing: AGENT, roles: MANAGERS },
  { method: 'POST', path: '/agents/:id/password-reset', success: 200, thing: MEMBER, roles: MANAGERS },
  { method: 'GET', path: '/invitations', success: 200, roles: MANAGERS },
  { method: 'DELETE', path: '/invitations/:id', success: 204, thing: INVITATION, roles: MANAGERS },
  { method: 'GET', path: '/api-keys', success: 200, roles: MANAGERS },
  {
    method: 'POST',
    path: '/api-keys',
    success: 201,
    body: () => ({ name: 'CRM', scopes: ['contacts:read'] }),
    roles: MANAGERS,
  },
  {
    method: 'POST',
    path: '/api-keys/:id/revoke',
    success: 200,
    body: () => ({ reason: 'LEAKED' }),
    thing: API_KEY,
    roles: MANAGERS,
  },
  { method: 'GET', path: '/event-types', success: 200 },
  { method: 'GET', path: '/parked-events', success: 200, roles: MANAGERS },
  { method: 'GET', path: '/webhook-endpoints', success: 200, roles: MANAGERS },
  {
    method: 'POST',
    path: '/webhook-endpoints',
    success: 201,
    body: () => ({ url: 'https://127.0.0.1:9999/hook', events: ['message.created'] }),
    roles: MANAGERS,
  },
  {
    method: 'POST',
    path: '/webhook-endpoints/check-url',
    success: 200,
    body: () => ({ url: 'https://127.0.0.1:9999/hook' }),
    roles: MANAGERS,
  },
  { method: 'GET', path: '/webhook-endpoints/:id', success: 200, thing: ENDPOINT, roles: MANAGERS },
  {
    method: 'POST',
    path: '/webhook-endpoints/:id/deactivate',
    success: 200,
    thing: ENDPOINT,
    roles: MANAGERS,
  },
  {
    method: 'PATCH',
    path: '/webhook-endpoints/:id',
    success: 200,
    thing: ENDPOINT,
    body: () => ({ version: 1, name: 'CRM' }),
    roles: MANAGERS,
  },
  { method: 'POST', path: '/webhook-endpoints/:id/activate', success: 200, thing: ENDPOINT, roles: MANAGERS },
  {
    method: 'POST',
    path: '/webhook-endpoints/:id/send-example',
    success: 200,
    thing: ENDPOINT,
    body: () => ({ event: 'message.created' }),
    roles: MANAGERS,
  },
  { method: 'POST', path: '/webhook-endpoints/:id/test', success: 200, thing: ENDPOINT, roles: MANAGERS },
  {
    method: 'POST',
    path: '/webhook-endpoints/:id/roll-secret',
    success: 200,
    thing: ENDPOINT,
    roles: MANAGERS,
  },
  { method: 'DELETE', path: '/webhook-endpoints/:id', success: 204, thing: ENDPOINT, roles: MANAGERS },
  {
    method: 'GET',
    path: '/webhook-endpoints/:id/deliveries',
    success: 200,
    thing: ENDPOINT,
    roles: MANAGERS,
  },
  { method: 'GET', path: '/webhook-endpoints/:id/timeline', success: 200, thing: ENDPOINT, roles: MANAGERS },
  {
    method: 'POST',
    path: '/webhook-endpoints/:id/recoveries',
    success: 201,
    thing: ENDPOINT,
    body: () => ({ since: minutesAgo(5) }),
    roles: MANAGERS,
  },
  {
    method: 'GET',
    path: '/webhook-endpoints/:id/recoveries',
    success: 200,
    thing: ENDPOINT,
    roles: MANAGERS,
  },
  {
    method: 'GET',
    path: '/webhook-endpoints/:id/automatic-recovery',
    success: 200,
    thing: ENDPOINT,
    roles: MANAGERS,
  },
  {
    method: 'DELETE',
    path: '/webhook-endpoints/:id/automatic-recovery',
    success: 204,
    thing: ENDPOINT,
    roles: MANAGERS,
  },
  {
    method: 'POST',
    path: '/webhook-endpoints/:id/redeliveries',
    success: 201,
    thing: ENDPOINT,
    body: () => ({ filter: { status: 'exhausted' } }),
    roles: MANAGERS,
  },
  { method: 'GET', path: '/recoveries/:id', success: 200, thing: RECOVERY, roles: MANAGERS },
  { method: 'POST', path: '/recoveries/:id/cancel', success: 200, thing: RECOVERY, roles: MANAGERS },
  { method: 'GET', path: '/deliveries/:id', success: 200, thing: DELIVERY, roles: MANAGERS },
  { method: 'POST', path: '/deliveries/:id/redeliver', success: 200, thing: DELIVERY, roles: MANAGERS },
  { method: 'POST', path: '/deliveries/:id/retry', success: 200, thing: PENDING_DELIVERY, roles: MANAGERS },
  {
    method: 'POST',
    path: '/deliveries/redeliver',
    success: 200,
    body: () => ({ ids: ['nope'] }),
    roles: MANAGERS,
  },
  { method: 'GET', path: '/channels', success: 200, roles: MANAGERS },
  {
    method: 'POST',
    path: '/channels/:id/rotate',
    success: 200,
    thing: CHANNEL,
    body: () => WIDGET_KEYS,
    roles: MANAGERS,
  },
  { method: 'DELETE', path: '/channels/:id', success: 200, thing: CHANNEL, roles: MANAGERS },
  { method: 'POST', path: '/channels', success: 201, body: () => WIDGET, roles: MANAGERS },
  { method: 'GET', path: '/alerts', success: 200, roles: MANAGERS },
  { method: 'GET', path: '/alert-mails', success: 200, roles: MANAGERS },
  {
    method: 'PATCH',
    path: '/alert-mails',
    success: 200,
    body: () => ({ mutedKinds: ['KEY_ENDING'] }),
    roles: MANAGERS,
  },
  { method: 'GET', path: '/audit-entries', success: 200, roles: MANAGERS },
  { method: 'GET', path: '/audit-entries/values', success: 200, roles: MANAGERS },
  { method: 'GET', path: '/audit-entries/export', success: 200, roles: MANAGERS },
];
const WIDGET_KEYS = { credentials: WIDGET.credentials };

export const WITH_ID = WORKSPACE_ROUTES.filter(
  (route): route is WorkspaceRoute & { thing: Thing } => route.thing !== undefined,
);

/** All other routes: the routes of the person's own login, and the public ones. */
export const OTHER_ROUTES: { method: Method; path: string; isPublic: boolean }[] = [
  { method: 'GET', path: '/health/live', isPublic: true },
  { method: 'GET', path: '/health/ready', isPublic: true },
  { method: 'POST', path: '/api/login', isPublic: true },
  { method: 'POST', path: '/api/login/second-factor', isPublic: true },
  { method: 'POST', path: '/api/password-resets', isPublic: true },
  { method: 'POST', path: '/api/links/describe', isPublic: true },
  { method: 'POST', path: '/api/links/accept', isPublic: true },
  { method: 'POST', path: '/api/logout', isPublic: false },
  { method: 'GET', path: '/api/session', isPublic: false },
  { method: 'PATCH', path: '/api/account', isPublic: false },
  { method: 'GET', path: '/api/account/export', isPublic: false },
  { method: 'POST', path: '/api/account/password', isPublic: false },
  { method: 'GET', path: '/api/account/sessions', isPublic: false },
  { method: 'DELETE', path: '/api/account/sessions/:id', isPublic: false },
  { method: 'POST', path: '/api/account/sessions/revoke-others', isPublic: false },
  { method: 'POST', path: '/api/account/second-factor', isPublic: false },
  { method: 'POST', path: '/api/account/second-factor/confirm', isPublic: false },
  { method: 'POST', path: '/api/account/second-factor/turn-off', isPublic: false },
  { method: 'POST', path: '/api/account/recovery-codes', isPublic: false },
  { method: 'GET', path: '/api/account/push', isPublic: false },
  { method: 'PUT', path: '/api/account/push', isPublic: false },
  { method: 'DELETE', path: '/api/account/push', isPublic: false },
  { method: 'POST', path: '/api/account/push/test', isPublic: false },
  { method: 'GET', path: '/widget-preview/:workspaceId/:id', isPublic: false },
  { method: 'GET', path: '/attachments/:token', isPublic: true },
];

export const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path || '/'}`;

export async function makeSettings(
  service: TestService,
  dashboard: TestDashboard,
  receiverUrl: string,
): Promise<Settings> {
  const workspace = await service.make.workspace();
  const owner = await service.make.agent(workspace);
  const browser = await dashboard.logIn(owner);
  await browser.secure();
  return { dashboard, workspace, owner, browser, receiverUrl };
}

/** Calls a route of a workspace, with the id of an existing thing. */
export async function callRoute(
  settings: Settings,
  { method, path, query = '', body, bytes, isStream }: WorkspaceRoute,
  { browser = settings.browser, id = '' }: { browser?: Browser; id?: string } = {},
): Promise<Answer> {
  const address = `/api/workspaces/${settings.workspace.id}${path.replace(':id', id)}${query}`;
  if (isStream) {
    const stream = await browser.stream(address);
    stream.close();
    if (stream.response.ok)
      return { status: stream.response.status, headers: {}, body: stream.response.body };
  }
  if (bytes) return browser.putBytes(address, bytes);
  return browser.send(method, address, method === 'GET' ? undefined : ((await body?.(settings)) ?? {}));
}
