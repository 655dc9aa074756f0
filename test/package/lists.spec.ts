import { AlertsService } from '../../src/alerts/alerts.service';
import { AuditService } from '../../src/audit/audit.service';
import { SYSTEM } from '../../src/access/principal';
import { ContactsService } from '../../src/contacts/contacts.service';
import { ContactConversationsService } from '../../src/conversations/contact-conversations.service';
import { ConversationsService } from '../../src/conversations/conversations.service';
import { MessagesService } from '../../src/messages/messages.service';
import { NotesService } from '../../src/inbox/notes/notes.service';
import { WebhookDeliveriesService } from '../../src/webhooks/browsing/webhook-deliveries.service';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { WebhookRecoveriesService } from '../../src/webhooks/recoveries/webhook-recoveries.service';
import { AgentsService } from '../../src/workspaces/agents.service';
import { MessagingHost } from '../support/messaging-host';
import { expectRefusal } from '../support/errors';
import { listingMethods } from '../support/service-methods';
import { subscribe, Subscription } from '../support/webhook-workspace';

let host: MessagingHost;
let own: Subscription;

beforeAll(async () => {
  host = await MessagingHost.create();
  own = await subscribe(host, 'https://127.0.0.1:9999/hook');
});

interface Query {
  limit?: number;
  cursor?: string;
}

/** Lists with pages, each called for the workspace. */
const PAGED: Record<string, (query: Query) => Promise<unknown>> = {
  'AgentsService.listPage': (query) => host.get(AgentsService).listPage(own.id, query, SYSTEM),
  'AlertsService.list': (query) => host.get(AlertsService).list(own.id, query, SYSTEM),
  'AuditService.list': (query) => host.get(AuditService).list(own.id, query, SYSTEM),
  'ContactsService.list': (query) => host.get(ContactsService).list(own.id, query, SYSTEM),
  'ContactConversationsService.list': (query) =>
    host.get(ContactConversationsService).list(own.id, own.conversation.contact.id, query, SYSTEM),
  'ConversationsService.list': (query) => host.get(ConversationsService).list(own.id, query, SYSTEM),
  'ConversationsService.listActive': (query) =>
    host.get(ConversationsService).listActive(own.id, { status: 'OPEN', ...query }, SYSTEM),
  'ConversationsService.listChanges': (query) =>
    host.get(ConversationsService).listChanges(own.id, own.conversation.id, query, SYSTEM),
  'MessagesService.list': (query) =>
    host.get(MessagesService).list(own.id, own.conversation.id, query, SYSTEM),
  'NotesService.list': (query) => host.get(NotesService).list(own.id, own.conversation.id, query, SYSTEM),
  'WebhookEndpointsService.listPage': (query) =>
    host.get(WebhookEndpointsService).listPage(own.id, query, SYSTEM),
  'WebhookDeliveriesService.list': (query) => host.get(WebhookDeliveriesService).list(own.id, query, SYSTEM),
};

/** Lists of the latest rows, without a cursor. */
const LATEST: Record<string, (limit?: number) => Promise<unknown>> = {
  'WebhookRecoveriesService.list': (limit) =>
    host.get(WebhookRecoveriesService).list(own.id, own.endpoint.id, SYSTEM, limit),
};

/** Methods that return all rows, with the reason why these are few. */
const WHOLE: Record<string, string[]> = {
  'a few of each of a few contacts': ['MessageSearchService.searchContacts'],
  'a cap bounds what a workspace or a person has': [
    'ApiKeysService.list',
    'ApiKeysService.revokeByCreator',
    'ChannelConnectionsService.list',
    'DraftsService.list',
    'SavedRepliesService.list',
    'LoginsService.listSessions',
    'OperatorLoginsService.listSessions',
    'WebhookEndpointsService.list',
  ],
  'one each for an agent of the workspace': [
    'AgentsService.list',
    'InvitationsService.list',
    'OperatorLoginsService.list',
    'SecondFactorDemandsService.listFulfilling',
  ],
  'one each for a path of the API': ['RateLimitUseService.list'],
  'one each for what the caller names': [
    'EndpointStatisticsService.countLast24Hours',
    'LoginsService.listOpened',
    'PresenceService.list',
    'ReadMarksService.listUnread',
    'WebhookDeliveriesService.redeliverMany',
  ],
  'its statement has a limit': ['ParkedEventsService.list'],
  'a stream': ['AuditService.export', 'ContactExportService.export', 'ContactArchiveService.export'],
};

it.each(Object.entries(PAGED))('%s checks its limit and its cursor', async (_, list) => {
  for (const limit of [0, 201, -1, 1.5, NaN]) await expectRefusal(list({ limit }), 'INVALID_QUERY');
  await expectRefusal(list({ cursor: 'nope' }), 'INVALID_QUERY');
  expect(await list({})).toEqual(await list({ limit: 50 }));
  expect(await list({ limit: 200 })).toEqual(await list({}));
});

it.each(Object.entries(LATEST))('%s checks its limit', async (_, list) => {
  for (const limit of [0, 201, -1, 1.5, NaN]) await expectRefusal(list(limit), 'INVALID_QUERY');
  expect(await list(200)).toEqual(await list());
});

it('every service’s lists are among them, or return all rows on purpose', () => {
  const known = [...Object.keys(PAGED), ...Object.keys(LATEST), ...Object.values(WHOLE).flat()];
  expect(listingMethods().sort()).toEqual(known.sort());
});
