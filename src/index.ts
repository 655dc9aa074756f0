/**
 * Exports the services for another Nest application, such as a dashboard's backend, in one module. The CLI
 * uses the same services. `conversation-messaging-service/logins` exports the services for people who log in,
 * and `conversation-messaging-service/http` the parts for a host that serves HTTP. No file inside this
 * package imports these three files.
 *
 * The first argument of a method is the id of its workspace. Data of another workspace counts as not found.
 * Dates are `Date`s. Input is checked by the REST API's rules: a caller's mistake is thrown as an `AppError`,
 * with the code `INVALID_QUERY` for a list's bad `limit` or `cursor`. A type that is only a part of an
 * exported type is not exported: use `MessageResponse['delivery']`. Methods marked `@internal` take a
 * transaction of the service, and are not in the package's types.
 */
import 'reflect-metadata';

// The module, errors, and the actor of a read or change. An agent who acts must be active, and the agent's
// role must allow the act.
export {
  MessagingModule,
  readMessagingOptions,
  type MessagingAsyncOptions,
  type MessagingOptions,
} from './app/messaging.module';
export { ConfigError } from './config/config';
export { AppError, type ErrorBody, type ErrorCode, type ErrorDetail } from './common/app-error';
export type { ErrorValues, FaultCode, ReasonCode, Thing } from './common/error-texts';
export { actorIdOf, agentOf, SYSTEM, type Actor, type Origin } from './access/principal';
export { AGENT_ROLES, ENTITLEMENTS, PERMISSIONS, SCOPES } from './access/permissions';
export type { AgentRole, Entitlement, Permission, Scope } from './access/permissions';
export { MAX_LIMIT, PageQuery, type Page } from './common/page';

// Workspaces, their agents and API keys.
export { WorkspacesService } from './workspaces/workspaces.service';
export { CreateWorkspace, UpdateWorkspace } from './workspaces/workspace.dto';
export { DeleteWorkspace, type WorkspaceDeletion } from './workspaces/workspace-deletion.dto';
export type { WorkspaceEntity as Workspace } from './workspaces/workspace.entity';
export { isEntitled, isTrialExpired, PLAN_TIERS, rateLimitOf, type PlanTier } from './workspaces/plan-policy';
export { AgentsService } from './workspaces/agents.service';
export { CreateAgent, UpdateAgent } from './workspaces/agent.dto';
export type { AgentEntity as Agent } from './workspaces/agent.entity';
export { ApiKeysService } from './auth/api-keys.service';
export { CreateApiKey, ListApiKeys, RevokeApiKey } from './auth/api-key.dto';
export type { ApiKeySummary, CreatedApiKey, RevokedApiKey } from './auth/api-key.dto';
export { RateLimitUseService, type RateLimitUse } from './auth/rate-limit-use.service';

// Webhook endpoints, the events that they receive, their deliveries and statistics.
export { WebhookEndpointsService } from './webhooks/endpoints/webhook-endpoints.service';
export { ALL_EVENTS } from './outbox/event-catalog';
export {
  CreateWebhookEndpoint,
  RollSecret,
  UpdateWebhookEndpoint,
} from './webhooks/endpoints/webhook-endpoint-input.dto';
export {
  MAX_ENDPOINT_DESCRIPTION,
  MAX_ENDPOINT_NAME,
  MAX_ENDPOINT_RATE,
} from './webhooks/endpoints/webhook-endpoint-input.dto';
export type { CreatedWebhookEndpoint } from './webhooks/endpoints/webhook-endpoint.dto';
export type { EndpointMaker, WebhookEndpointSummary } from './webhooks/endpoints/webhook-endpoint.dto';
export { eventCatalog, isEventType, type EventData, type EventType } from './outbox/event-catalog';
export { exampleBody } from './webhooks/sending/delivery-request';
export { WebhookTestService } from './webhooks/testing/webhook-test.service';
export { WebhookDeliveriesService } from './webhooks/browsing/webhook-deliveries.service';
export { SendExample, type WebhookTestResult } from './webhooks/testing/webhook-test.dto';
export {
  ListWebhookDeliveriesQuery,
  RedeliverDeliveries,
  type RedeliveryResult,
} from './webhooks/browsing/webhook-delivery.dto';
export type { WebhookAttemptDetail, WebhookAttemptSummary } from './webhooks/browsing/webhook-delivery.dto';
export type {
  WebhookDeliveryDetail,
  WebhookDeliverySubject,
  WebhookDeliverySummary,
} from './webhooks/browsing/webhook-delivery.dto';
export { ATTEMPT_ERRORS, type AttemptError } from './webhooks/sending/attempt-outcome';
export { EndpointStatisticsService } from './webhooks/rollups/endpoint-statistics.service';
export type {
  EndpointDay,
  WebhookDay,
  WebhookEndpointHealth,
} from './webhooks/rollups/endpoint-statistics.service';
export type { TimelinePeriod, WebhookTimeline } from './webhooks/rollups/timeline';
export { AutomaticRecoveriesService } from './webhooks/recoveries/automatic-recoveries.service';
export type { AutomaticRecoverySummary } from './webhooks/recoveries/automatic-recovery.dto';
export { WebhookRecoveriesService } from './webhooks/recoveries/webhook-recoveries.service';
export { RecoverEndpoint, RedeliverMatching } from './webhooks/recoveries/webhook-recovery.dto';
export { RedeliverOptions, type WebhookRecoverySummary } from './webhooks/recoveries/webhook-recovery.dto';

// Alerts: matters of a workspace that need its owners.
export { AlertsService } from './alerts/alerts.service';
export { type AlertResponse, ListAlertsQuery } from './alerts/alert.dto';
export { AlertMailChoicesService } from './notices/alerts/alert-mail-choices.service';
export { type AlertMailChoice, UpdateAlertMailChoice } from './notices/alerts/alert-mail-choice.dto';
export { ALERT_KINDS, alertCatalog, type AlertKind, type AlertSubject } from './alerts/alert-kinds';

// Notices to agents who are not there: each agent's choices.
export { NoticeChoicesService } from './notices/agents/notice-choices.service';
export {
  ChooseNotices,
  NOTICE_MATTERS,
  QUIET_MINUTES,
  type NoticeChoices,
  type NoticeChoicesResponse,
  type NoticeMatter,
  type QuietMinutes,
} from './notices/agents/notice-choices.dto';

// Signals that a change was committed, with the ids of the changed things, for an open inbox.
export { EventNotices, type NoticeCallback } from './outbox/event-notices';
export type { ChangedConversation, ChangedReadMark, InboxChange } from './outbox/eventless-changes';

// Agents who have a conversation open, or write in it, now.
export { PresenceService } from './inbox/presence/presence.service';
export {
  ListPresenceQuery,
  SignalPresence,
  type AgentAct,
  type ConversationPresence,
} from './inbox/presence/presence.dto';

// Channels, contacts, conversations and messages. No later call returns the `reveal` of `connect` or
// `rotate`.
export { ChannelConnectionsService } from './channels/connections/channel-connections.service';
export { ConnectChannel, type ChannelConnectionSummary } from './channels/connections/channel-connection.dto';
export type {
  ConnectedChannel,
  DisconnectedChannel,
  WidgetPreview,
} from './channels/connections/channel-connection.dto';
export { type BodyLimits, CHANNELS, type Channel } from './common/channel-descriptors';
export { ContactsService } from './contacts/contacts.service';
export { ContactResponse, CreateContact, ListContactsQuery, UpdateContact } from './contacts/contact.dto';
export type { ContactDetail } from './contacts/contact.dto';
export {
  type AttributeValue,
  MAX_ATTRIBUTE_NAME,
  MAX_ATTRIBUTE_TEXT,
  MAX_ATTRIBUTES,
} from './contacts/contact-attributes';
export { ContactErasuresService } from './privacy/contact-erasures.service';
export type { ContactErasureSummary } from './privacy/contact-erasure.dto';
export { ContactArchiveService } from './privacy/contact-archive.service';
export { ContactExportService, type ContactExportLine } from './privacy/contact-export.service';
export { ConversationsService, type WaitingCount } from './conversations/conversations.service';
export { ContactConversationsService } from './conversations/contact-conversations.service';
export { NewConversationsService } from './channels/outbound/new-conversations.service';
export { ReplyChecksService, type ReplyCheck } from './channels/outbound/reply-checks.service';
export { ConversationDetail, ConversationListItem } from './conversations/conversation.dto';
export type { ConversationChange } from './conversations/conversation-change';
export { ConversationResponse, CreateConversation } from './conversations/conversation.dto';
export { ListConversationsQuery, NOBODY, UpdateConversation } from './conversations/conversation.dto';
export {
  ActiveConversation,
  ContactConversation,
  CountConversationsQuery,
  ListActiveConversationsQuery,
} from './conversations/active-conversation.dto';
export { CONVERSATION_STATUSES, type ConversationStatus } from './conversations/conversation.entity';
export { LostMessagesService } from './messages/lost-messages.service';
export type { LostStatus } from './conversations/lost-replies';
export { MessagesService } from './messages/messages.service';
export { DismissMessage, ListMessagesPartQuery, type MessagesPart } from './messages/message.dto';
export { MAX_BODY_CHARACTERS, MessageResponse, ReceiveMessage } from './messages/message.dto';
export { SendMessage, SendReply, SentMessageResponse, type SentReplyResponse } from './messages/message.dto';
export { AttachmentsService } from './attachments/attachments.service';
export type { AttachmentResponse } from './attachments/attachment.dto';
export type { AttachmentProblem, AttachmentState } from './attachments/attachment.entity';
export { AttachmentContents, type ContentVariant } from './attachments/contents/attachment-contents';
export { AttachmentRetriesService } from './channels/fetches/attachment-retries.service';
export { UploadsService } from './attachments/uploads/uploads.service';
export { UploadContents } from './attachments/uploads/upload-contents';
export { CreateUpload, type UploadResponse } from './attachments/uploads/upload.dto';
export {
  type ChannelFileLimits,
  FILE_LIMITS,
  type FileKind,
  MAX_FILE_BYTES,
  MAX_FILES,
} from './common/file-limits';
export { DraftsService } from './inbox/drafts/drafts.service';
export { SaveDraft, MAX_DRAFT_CHARACTERS } from './inbox/drafts/draft.dto';
export type { DraftResponse, DraftSummary } from './inbox/drafts/draft.dto';
export { SavedRepliesService } from './inbox/saved-replies/saved-replies.service';
export { SAVED_REPLY_VARIABLES, type SavedReplyVariable } from './inbox/saved-replies/variables';
export { CreateSavedReply, UpdateSavedReply } from './inbox/saved-replies/saved-reply.dto';
export type { SavedReplyResponse } from './inbox/saved-replies/saved-reply.dto';
export { NotesService } from './inbox/notes/notes.service';
export { CreateNote, MAX_NOTE_CHARACTERS, type NoteResponse } from './inbox/notes/note.dto';
export { MessageSearchService } from './message-search/message-search.service';
export {
  type FoundConversation,
  type FoundMessage,
  type FoundMessages,
  SearchConversationsQuery,
  SearchMessagesQuery,
} from './message-search/message-search.dto';
export { DELIVERY_ERROR_CODES, type DeliveryErrorCode, type DeliveryStatus } from './common/message-status';

// Conversations with messages that an agent has not read.
export { ReadMarksService } from './inbox/read-marks/read-marks.service';
export { MarkRead, type Unread, type UnreadConversation } from './inbox/read-marks/read-mark.dto';

// The audit log. `AuditTally` counts acts that a stranger can repeat at will, such as a failed login.
export { AuditService, type AuditRecord } from './audit/audit.service';
export { AuditTally, type CountedRecord } from './audit/audit-tally';
export { AUDIT_EXPORT_FORMATS, type AuditExportFormat, type AuditValues } from './audit/audit-entry.dto';
export { ExportAuditEntriesQuery, ListAuditEntriesQuery } from './audit/audit-entry.dto';
export type { AuditEntryEntity as AuditEntry } from './audit/audit-entry.entity';

// For operators: events that a consumer failed to process, and the re-encryption of all secrets with the
// first key.
export { ParkedEventsService } from './operations/parked-events/parked-events.service';
export type { ParkedEvent, ParkedEventKey } from './outbox/parked-events.repository';
export { KeyRotationService } from './secrets/key-rotation.service';
