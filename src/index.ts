/**
 * The services for another Nest application, such as a dashboard's backend, in one module. The CLI uses the
 * same services. `conversation-messaging-service/logins` exports the services for people who log in, and
 * `conversation-messaging-service/http` the parts for a host that serves HTTP. Nothing inside this package
 * imports these three files.
 *
 * ```ts
 * @Module({ imports: [MessagingModule.forRoot({ databaseUrl, redisUrl, secretsKeys })] })
 * class DashboardModule {}
 *
 * const input = { name: 'CRM', scopes: ['contacts:read'] };
 * const { key } = await apiKeys.create(workspaceId, input, { type: 'agent', id });
 * ```
 *
 * The first argument of a method is the id of its workspace (`WorkspacesService` creates and finds
 * workspaces). Data of another workspace is not found. Dates are `Date`s. Input is checked by the REST API's
 * rules, and a caller's mistake is thrown as an `AppError`. A type that is only a part of an exported one has
 * no name here: `MessageResponse['delivery']`.
 *
 * Methods marked `@internal` take a transaction of the service, and are not in the package's types.
 */
import 'reflect-metadata';

export { MessagingModule, type MessagingAsyncOptions, type MessagingOptions } from './messaging.module';
export { ConfigError } from './config/config';
// Errors: `code` for programs, `status` and `toBody(requestId)` for an HTTP answer, `details` by field.
export { AppError, type ErrorBody, type ErrorCode } from './common/app-error';
// The actor of a change, as the audit log stores it; `SYSTEM` is for changes that have no actor. An agent
// must be active, and its role must allow the change: `INVALID_BODY` and `FORBIDDEN` otherwise.
export { SYSTEM, type Actor, type Origin } from './common/principal';
export { PERMISSIONS, SCOPES, type Permission, type Scope } from './common/permissions';
// Lists check their `limit`, 1 to 200 (`MAX_LIMIT`), and their `cursor`: `INVALID_QUERY` otherwise.
export { MAX_LIMIT, PageQuery, type Page } from './common/page';

// Workspaces and their agents.
export { WorkspacesService } from './workspaces/workspaces.service';
export { CreateWorkspace, UpdateWorkspace } from './workspaces/workspace.dto';
export { DeleteWorkspace, type WorkspaceDeletion } from './workspaces/deletion/workspace-deletion.dto';
export type { WorkspaceEntity as Workspace } from './workspaces/workspace.entity';
export { ENTITLEMENTS, type Entitlement } from './common/entitlement';
export { isEntitled, isTrialExpired, PLAN_TIERS, rateLimitOf, type PlanTier } from './workspaces/plan-policy';
export { AgentsService } from './workspaces/agents.service';
export { CreateAgent, UpdateAgent } from './workspaces/agent.dto';
export type { AgentEntity as Agent } from './workspaces/agent.entity';
export { AGENT_ROLES, type AgentRole } from './common/agent-role';

// API keys: `{app_url}/settings/api-keys`.
export { ApiKeysService } from './auth/api-keys.service';
export { CreateApiKey, ListApiKeys, type ApiKeySummary, type CreatedApiKey } from './auth/api-key.dto';
export { RateLimitUseService, type RateLimitUse } from './auth/rate-limit-use.service';

// Webhook endpoints, their deliveries, and the Test button: `{app_url}/settings/webhooks`. The catalog has
// the JSON Schema of each event's `data`; `exampleBody(type)` is a whole body.
export { WebhookEndpointsService } from './webhooks/endpoints/webhook-endpoints.service';
export { ALL_EVENTS } from './webhooks/endpoints/subscription';
export {
  CreateWebhookEndpoint,
  RollSecret,
  type CreatedWebhookEndpoint,
  type WebhookEndpointSummary,
} from './webhooks/endpoints/webhook-endpoint.dto';
export { WebhookTestService } from './webhooks/browsing/webhook-test.service';
export { WebhookDeliveriesService } from './webhooks/browsing/webhook-deliveries.service';
export {
  ListWebhookDeliveriesQuery,
  RedeliverDeliveries,
  type RedeliveryResult,
  type WebhookAttemptDetail,
  type WebhookAttemptSummary,
  type WebhookDeliveryDetail,
  type WebhookDeliverySummary,
  type WebhookTestResult,
} from './webhooks/browsing/webhook-delivery.dto';
export { ATTEMPT_ERRORS, type AttemptError } from './webhooks/sending/attempt-outcome';
export {
  EndpointStatisticsService,
  type WebhookEndpointHealth,
} from './webhooks/rollups/endpoint-statistics.service';
export type { AttemptTotals } from './webhooks/rollups/attempt-rollups.repository';
export type { TimelinePeriod, WebhookTimeline } from './webhooks/rollups/timeline';
export { WebhookRecoveriesService } from './webhooks/recoveries/webhook-recoveries.service';
export {
  RecoverEndpoint,
  RedeliverMatching,
  RedeliverOptions,
  type WebhookRecoverySummary,
} from './webhooks/recoveries/webhook-recovery.dto';
export { eventCatalog, isEventType, type EventData, type EventType } from './outbox/event-catalog';
export { exampleBody } from './webhooks/endpoints/example-body';

// Channels: the workspace's accounts at providers. `reveal` of `connect` and `rotate` is returned once.
export { ChannelConnectionsService } from './channels/connections/channel-connections.service';
export {
  ConnectChannel,
  type ChannelConnectionSummary,
  type ConnectedChannel,
  type DisconnectedChannel,
} from './channels/connections/channel-connection.dto';
export { CHANNELS, type Channel } from './common/channel-descriptors';

// Contacts, conversations and messages.
export { ContactsService } from './contacts/contacts.service';
export { ContactResponse, CreateContact, ListContactsQuery } from './contacts/contact.dto';
export { ConversationsService } from './conversations/conversations.service';
export {
  ConversationDetail,
  ConversationListItem,
  ConversationResponse,
  CreateConversation,
  ListConversationsQuery,
  UpdateConversation,
} from './conversations/conversation.dto';
export { CONVERSATION_STATUSES, type ConversationStatus } from './conversations/conversation.entity';
export { MessagesService } from './messages/messages.service';
export { MessageResponse, ReceiveMessage, SendMessage, SentMessageResponse } from './messages/message.dto';
export { DELIVERY_ERROR_CODES } from './messages/message-status';

// Rights of a workspace's contacts: export and erasure. An erasure is for ever; a worker runs it.
export { ContactErasuresService } from './privacy/contact-erasures.service';
export type { ContactErasureSummary } from './privacy/contact-erasure.dto';
export { ContactExportService, type ContactExportLine } from './privacy/contact-export.service';

// The audit log. `record` is for acts that only the host sees. Acts that a stranger can repeat at will, such
// as a failed login, are counted by `AuditTally`: an entry every ten minutes.
export { AuditService, type AuditRecord } from './audit/audit.service';
export { AuditTally, type CountedRecord } from './audit/audit-tally';
export {
  AUDIT_EXPORT_FORMATS,
  ExportAuditEntriesQuery,
  ListAuditEntriesQuery,
  type AuditExportFormat,
} from './audit/audit-entry.dto';
export type { AuditEntryEntity as AuditEntry } from './audit/audit-entry.entity';

// For operators: events that a consumer could not take in (`webhooks` or `channels`; a request takes effect
// within seconds), and the secrets, encrypted again under the first key of `secretsKeys`, so that an old key
// can be removed.
export { ParkedEventsService } from './parked-events/parked-events.service';
export type { ParkedEvent, ParkedEventKey } from './outbox/parked-events.repository';
export { KeyRotationService } from './secrets/key-rotation.service';
