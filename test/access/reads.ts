import { Readable } from 'node:stream';
import { AlertsService } from '../../src/alerts/alerts.service';
import { AlertMailChoicesService } from '../../src/notices/alerts/alert-mail-choices.service';
import { AttachmentsService } from '../../src/attachments/attachments.service';
import { UploadContents } from '../../src/attachments/uploads/upload-contents';
import { UploadsService } from '../../src/attachments/uploads/uploads.service';
import { AuditService } from '../../src/audit/audit.service';
import { ApiKeysService } from '../../src/auth/api-keys.service';
import { RateLimitUseService } from '../../src/auth/rate-limit-use.service';
import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { ReplyChecksService } from '../../src/channels/outbound/reply-checks.service';
import { ReadPermission } from '../../src/access/permissions';
import { Actor, SYSTEM } from '../../src/access/principal';
import { ContactsService } from '../../src/contacts/contacts.service';
import { ContactConversationsService } from '../../src/conversations/contact-conversations.service';
import { ConversationsService } from '../../src/conversations/conversations.service';
import { DraftsService } from '../../src/inbox/drafts/drafts.service';
import { InvitationsService } from '../../src/logins/invitations/invitations.service';
import { OperatorLoginsService } from '../../src/logins/operator-logins.service';
import { SecondFactorDemandsService } from '../../src/logins/second-factor/second-factor-demands.service';
import { MessageSearchService } from '../../src/message-search/message-search.service';
import { SendReply } from '../../src/messages/message.dto';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { MessagesService } from '../../src/messages/messages.service';
import { NotesService } from '../../src/inbox/notes/notes.service';
import { ParkedEventsService } from '../../src/operations/parked-events/parked-events.service';
import { NoticeChoicesService } from '../../src/notices/agents/notice-choices.service';
import { PresenceService } from '../../src/inbox/presence/presence.service';
import { ContactErasuresService } from '../../src/privacy/contact-erasures.service';
import { SavedRepliesService } from '../../src/inbox/saved-replies/saved-replies.service';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { AutomaticRecoveriesService } from '../../src/webhooks/recoveries/automatic-recoveries.service';
import { WebhookRecoveriesService } from '../../src/webhooks/recoveries/webhook-recoveries.service';
import { ReadMarksService } from '../../src/inbox/read-marks/read-marks.service';
import { EndpointStatisticsService } from '../../src/webhooks/rollups/endpoint-statistics.service';
import { AgentsService } from '../../src/workspaces/agents.service';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { Logins } from '../support/logins';
import { MessagingHost } from '../support/messaging-host';
import { subscribe, Subscription } from '../support/webhook-workspace';

/** A workspace that has one of each thing that can be read. */
export interface Filled {
  own: Subscription;
  deliveryId: string;
  recoveryId: string;
  connectionId: string;
  erasureId: string;
  attachmentId: string;
  /** E-mail address of a person who can log in. */
  email: string;
}

/** A read method of a service, with the permission that it requires. */
export interface Read {
  permission: ReadPermission;
  call: (filled: Filled, actor: Actor) => Promise<unknown>;
}

/** Makes a workspace whose webhook goes to an address where nothing listens. */
export async function fillWorkspace(host: MessagingHost): Promise<Filled> {
  const own = await subscribe(host, 'https://127.0.0.1:9999/hook');
  const { id, workspace, endpoint } = own;
  await own.test(endpoint);
  const [delivery] = await own.list();
  const recovery = await own.recover(endpoint, new Date(Date.now() - 60_000));
  const widget = { channel: 'WIDGET' as const, credentials: { allowedOrigins: ['https://shop.example'] } };
  const connection = await host.get(ChannelConnectionsService).connect(id, widget, SYSTEM);
  const other = await host.make.conversation(workspace);
  const erasure = await host.get(ContactErasuresService).start(id, other.contact.id, SYSTEM);
  const { email } = await new Logins(host).member(workspace);
  await own.message('Hello');
  const attachmentId = await attachFile(host, workspace, own.agent.id);
  await host.get(WorkspacesService).delete(id, {}, SYSTEM);
  return {
    own,
    deliveryId: delivery!.id,
    recoveryId: recovery.id!,
    connectionId: connection.id,
    erasureId: erasure.id,
    attachmentId,
    email,
  };
}

/** Sends a message with a file, and returns the id of its attachment. */
async function attachFile(host: MessagingHost, workspace: WorkspaceEntity, agentId: string): Promise<string> {
  const { id: conversationId } = await host.make.conversation(workspace);
  const upload = { conversationId, name: 'a.txt', size: 1 };
  const agent = { type: 'agent' as const, id: agentId };
  const { id: uploadId } = await host.get(UploadsService).create(workspace.id, upload, agent);
  const owner = { tenantId: workspace.id, uploader: agentId };
  const content = Readable.from([Buffer.from('x')]);
  await host.get(UploadContents).storeUnsized(owner, uploadId, content, new AbortController().signal);
  const reply = { attachments: [{ uploadId }] } as SendReply;
  const { message } = await host.get(MessagesService).send(workspace.id, conversationId, reply, agent);
  return message.attachments[0]!.id;
}

/**
 * Lists the read methods of the services with a call of each. Methods for a person who is logged in, or who
 * has a link, are not among them: their session or token says who reads.
 */
export function readsOf(host: () => MessagingHost): Record<string, Read> {
  const read = (permission: ReadPermission, call: Read['call']): Read => ({ permission, call });
  const endpoints = () => host().get(WebhookEndpointsService);
  const statistics = () => host().get(EndpointStatisticsService);
  const recoveries = () => host().get(WebhookRecoveriesService);
  const automatic = () => host().get(AutomaticRecoveriesService);
  const channels = () => host().get(ChannelConnectionsService);
  return {
    'WorkspacesService.getBySlug': read('workspace.read', ({ own }, actor) =>
      host().get(WorkspacesService).getBySlug(own.workspace.slug, actor),
    ),
    'WorkspacesService.getDeletion': read('workspace.read', ({ own }, actor) =>
      host().get(WorkspacesService).getDeletion(own.id, actor),
    ),
    'RateLimitUseService.list': read('workspace.read', ({ own }, actor) =>
      host().get(RateLimitUseService).list(own.id, actor),
    ),
    'AttachmentsService.get': read('conversation.read', ({ own, attachmentId }, actor) =>
      host().get(AttachmentsService).get(own.id, attachmentId, actor),
    ),
    'AttachmentsService.require': read('conversation.read', ({ own, attachmentId }, actor) =>
      host().get(AttachmentsService).require(own.id, attachmentId, actor),
    ),
    'AgentsService.list': read('agent.read', ({ own }, actor) =>
      host().get(AgentsService).list(own.id, actor),
    ),
    'AgentsService.listPage': read('agent.read', ({ own }, actor) =>
      host().get(AgentsService).listPage(own.id, {}, actor),
    ),
    'AgentsService.get': read('agent.read', ({ own }, actor) =>
      host().get(AgentsService).get(own.id, own.agent.id, actor),
    ),
    'AgentsService.countPeople': read('agent.read', ({ own }, actor) =>
      host().get(AgentsService).countPeople(own.id, actor),
    ),
    'InvitationsService.list': read('invitation.read', ({ own }, actor) =>
      host().get(InvitationsService).list(own.id, actor),
    ),
    'SecondFactorDemandsService.listFulfilling': read('invitation.read', ({ own }, actor) =>
      host().get(SecondFactorDemandsService).listFulfilling(own.id, actor),
    ),
    'ApiKeysService.list': read('api_key.read', ({ own }, actor) =>
      host().get(ApiKeysService).list(own.id, {}, actor),
    ),
    'ApiKeysService.countWorking': read('api_key.read', ({ own }, actor) =>
      host().get(ApiKeysService).countWorking(own.id, actor),
    ),
    'WebhookEndpointsService.list': read('webhook_endpoint.read', ({ own }, actor) =>
      endpoints().list(own.id, actor),
    ),
    'WebhookEndpointsService.listPage': read('webhook_endpoint.read', ({ own }, actor) =>
      endpoints().listPage(own.id, {}, actor),
    ),
    'WebhookEndpointsService.get': read('webhook_endpoint.read', ({ own }, actor) =>
      endpoints().get(own.id, own.endpoint.id, actor),
    ),
    'WebhookDeliveriesService.list': read('webhook.read', ({ own }, actor) =>
      own.deliveries.list(own.id, {}, actor),
    ),
    'WebhookDeliveriesService.get': read('webhook.read', ({ own, deliveryId }, actor) =>
      own.deliveries.get(own.id, deliveryId, actor),
    ),
    'EndpointStatisticsService.getHealth': read('webhook.read', ({ own }, actor) =>
      statistics().getHealth(own.id, own.endpoint.id, actor),
    ),
    'EndpointStatisticsService.getTimeline': read('webhook.read', ({ own }, actor) =>
      statistics().getTimeline(own.id, own.endpoint.id, '24h', actor),
    ),
    'EndpointStatisticsService.countLast24Hours': read('webhook.read', ({ own }, actor) =>
      statistics().countLast24Hours(own.id, [own.endpoint.id], actor),
    ),
    'EndpointStatisticsService.getDay': read('webhook.read', ({ own }, actor) =>
      statistics().getDay(own.id, actor),
    ),
    'WebhookRecoveriesService.get': read('webhook.read', ({ own, recoveryId }, actor) =>
      recoveries().get(own.id, recoveryId, actor),
    ),
    'WebhookRecoveriesService.list': read('webhook.read', ({ own }, actor) =>
      recoveries().list(own.id, own.endpoint.id, actor),
    ),
    'AutomaticRecoveriesService.get': read('webhook.read', ({ own }, actor) =>
      automatic()
        .get(own.id, own.endpoint.id, actor)
        .then((recovery) => ({ recovery })),
    ),
    'ChannelConnectionsService.list': read('channel.read', ({ own }, actor) =>
      channels().list(own.id, actor),
    ),
    'ChannelConnectionsService.get': read('channel.read', ({ own, connectionId }, actor) =>
      channels().get(own.id, connectionId, actor),
    ),
    'ChannelConnectionsService.previewWidget': read('channel.read', ({ own, connectionId }, actor) =>
      channels().previewWidget(own.id, connectionId, actor),
    ),
    'ContactsService.list': read('contact.read', ({ own }, actor) =>
      host().get(ContactsService).list(own.id, {}, actor),
    ),
    'ContactsService.get': read('contact.read', ({ own }, actor) =>
      host().get(ContactsService).get(own.id, own.conversation.contact.id, actor),
    ),
    'ContactsService.getDetail': read('contact.read', ({ own }, actor) =>
      host().get(ContactsService).getDetail(own.id, own.conversation.contact.id, actor),
    ),
    'ContactErasuresService.getRunning': read('contact.read', async ({ own }, actor) => ({
      running: await host()
        .get(ContactErasuresService)
        .getRunning(own.id, own.conversation.contact.id, actor),
    })),
    'ContactErasuresService.get': read('contact.read', ({ own, erasureId }, actor) =>
      host().get(ContactErasuresService).get(own.id, erasureId, actor),
    ),
    'ContactConversationsService.list': read('conversation.read', ({ own }, actor) =>
      host().get(ContactConversationsService).list(own.id, own.conversation.contact.id, {}, actor),
    ),
    'ReplyChecksService.get': read('conversation.read', ({ own }, actor) =>
      host().get(ReplyChecksService).get(own.id, own.conversation.id, actor),
    ),
    'ConversationsService.list': read('conversation.read', ({ own }, actor) =>
      host().get(ConversationsService).list(own.id, {}, actor),
    ),
    'PresenceService.list': read('conversation.read', ({ own }, actor) =>
      host()
        .get(PresenceService)
        .list(own.id, { conversationIds: [own.conversation.id] }, actor),
    ),
    'PresenceService.signal': read('conversation.read', ({ own }, actor) =>
      host()
        .get(PresenceService)
        .signal(own.id, { conversationId: own.conversation.id, act: 'LOOKING' }, actor)
        .then(() => true),
    ),
    'ConversationsService.listActive': read('conversation.read', ({ own }, actor) =>
      host().get(ConversationsService).listActive(own.id, { status: 'OPEN' }, actor),
    ),
    'ConversationsService.count': read('conversation.read', ({ own }, actor) =>
      host().get(ConversationsService).count(own.id, { status: 'OPEN' }, actor),
    ),
    'ConversationsService.countWaiting': read('conversation.read', ({ own }, actor) =>
      host().get(ConversationsService).countWaiting(own.id, actor),
    ),
    'ConversationsService.countLost': read('conversation.read', ({ own }, actor) =>
      host().get(ConversationsService).countLost(own.id, actor),
    ),
    'ConversationsService.get': read('conversation.read', ({ own }, actor) =>
      host().get(ConversationsService).get(own.id, own.conversation.id, actor),
    ),
    'ConversationsService.listChanges': read('conversation.read', ({ own }, actor) =>
      host().get(ConversationsService).listChanges(own.id, own.conversation.id, {}, actor),
    ),
    'MessagesService.countWaiting': read('conversation.read', ({ own }, actor) =>
      host().get(MessagesService).countWaiting(own.id, actor),
    ),
    'MessagesService.list': read('conversation.read', ({ own }, actor) =>
      host().get(MessagesService).list(own.id, own.conversation.id, {}, actor),
    ),
    'ReadMarksService.listUnread': read('conversation.read', ({ own }, actor) =>
      host().get(ReadMarksService).listUnread(own.id, [own.conversation.id], actor),
    ),
    'ReadMarksService.getUnread': read('conversation.read', ({ own }, actor) =>
      host().get(ReadMarksService).getUnread(own.id, actor),
    ),
    'MessageSearchService.search': read('conversation.read', ({ own }, actor) =>
      host().get(MessageSearchService).search(own.id, { text: 'hello' }, actor),
    ),
    'NotesService.list': read('note.read', ({ own }, actor) =>
      host().get(NotesService).list(own.id, own.conversation.id, {}, actor),
    ),
    'MessageSearchService.searchContacts': read('conversation.read', ({ own }, actor) =>
      host().get(MessageSearchService).searchContacts(own.id, { text: 'zoë' }, actor),
    ),
    'MessagesService.listPart': read('conversation.read', ({ own }, actor) =>
      host().get(MessagesService).listPart(own.id, own.conversation.id, {}, actor),
    ),
    'DraftsService.get': read('draft.read', ({ own }, actor) =>
      host().get(DraftsService).get(own.id, own.conversation.id, actor),
    ),
    'DraftsService.list': read('draft.read', ({ own }, actor) =>
      host().get(DraftsService).list(own.id, actor),
    ),
    'NoticeChoicesService.get': read('notice_choice.read', ({ own }, actor) =>
      host().get(NoticeChoicesService).get(own.id, actor),
    ),
    'PresenceService.keepActive': read('conversation.read', ({ own }, actor) =>
      host()
        .get(PresenceService)
        .keepActive(own.id, actor)
        .then(() => true),
    ),
    'SavedRepliesService.list': read('saved_reply.read', ({ own }, actor) =>
      host().get(SavedRepliesService).list(own.id, actor),
    ),
    'AlertsService.list': read('alert.read', ({ own }, actor) =>
      host().get(AlertsService).list(own.id, {}, actor),
    ),
    'AlertsService.countOpen': read('alert.read', ({ own }, actor) =>
      host().get(AlertsService).countOpen(own.id, actor),
    ),
    'AlertMailChoicesService.get': read('alert.read', ({ own }, actor) =>
      host().get(AlertMailChoicesService).get(own.id, actor),
    ),
    'AuditService.list': read('audit.read', ({ own }, actor) =>
      host().get(AuditService).list(own.id, {}, actor),
    ),
    'AuditService.listValues': read('audit.read', ({ own }, actor) =>
      host().get(AuditService).listValues(own.id, actor),
    ),
    'AuditService.export': read('audit.read', ({ own }, actor) =>
      host().get(AuditService).export(own.id, {}, actor).next(),
    ),
    'ParkedEventsService.list': read('parked_event.read', ({ own }, actor) =>
      host().get(ParkedEventsService).list(own.id, actor),
    ),
    'OperatorLoginsService.list': read('login.read', ({ own }, actor) =>
      host().get(OperatorLoginsService).list(own.id, actor),
    ),
    'OperatorLoginsService.listSessions': read('login.read', ({ email }, actor) =>
      host().get(OperatorLoginsService).listSessions(email, actor),
    ),
    'OperatorLoginsService.export': read('login.read', ({ email }, actor) =>
      host().get(OperatorLoginsService).export(email, actor),
    ),
  };
}
