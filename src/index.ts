/**
 * The package's API for another Nest application, such as the dashboard's backend: one module with the services that the
 * CLI uses too. Nothing inside this package imports this file.
 *
 * ```ts
 * @Module({ imports: [MessagingModule.forRoot({ databaseUrl, redisUrl, secretsKeys })] })
 * class DashboardModule {}
 *
 * const { key } = await apiKeys.create(workspaceId, { name: 'CRM', scopes: ['contacts:read'] }, { type: 'agent', id });
 * ```
 *
 * A method's first argument is the id of its workspace (`WorkspacesService` creates and finds workspaces). Data of another
 * workspace is not found. Dates are `Date`s. Input is checked by the REST API's rules, and a caller's mistake is thrown as
 * an `AppError`. Lists do not check their `limit`: pass 1 to 200.
 *
 * Methods marked `@internal` take a transaction of the service, and are not in the package's types.
 */
import 'reflect-metadata';

export { MessagingModule, type MessagingAsyncOptions, type MessagingOptions } from './messaging.module';
export { ConfigError } from './config/config';

// Errors: `code` for programs, `status` and `toBody(requestId)` for an HTTP answer, `details` by field.
export { AppError, ERROR_STATUS, type ErrorBody, type ErrorCode, type ErrorDetail } from './common/app-error';

// The actor of a change, as the audit log keeps it. `SYSTEM` is for changes of nobody in particular. An agent must be
// active, and its role must allow the change: `INVALID_BODY` and `FORBIDDEN` otherwise.
export { SYSTEM, type Actor, type Origin } from './common/principal';
export { PERMISSIONS, type Permission } from './access/permissions';
export { SCOPES, type Scope } from './common/scope';
export { CHANNELS, type Channel, type ProviderVariable } from './common/channel-descriptors';
export { DEFAULT_LIMIT, MAX_LIMIT, PageQuery, type Page } from './common/page';

// Workspaces and their agents.
export { WorkspacesService } from './workspaces/workspaces.service';
export { DeleteWorkspace, type WorkspaceDeletion } from './workspaces/deletion/workspace-deletion.dto';
export { CreateWorkspace, UpdateWorkspace } from './workspaces/workspace.dto';
export type { WorkspaceEntity as Workspace } from './workspaces/workspace.entity';
export { ENTITLEMENTS, type Entitlement } from './common/entitlement';
export {
  DEFAULT_RATE_LIMIT,
  isEntitled,
  isTrialExpired,
  PLAN_TIERS,
  rateLimitOf,
  TRIAL_DAYS,
  type PlanTier,
} from './workspaces/plan-policy';
export { AgentsService } from './workspaces/agents.service';
export { CreateAgent, UpdateAgent } from './workspaces/agent.dto';
export type { AgentEntity as Agent } from './workspaces/agent.entity';
export { AGENT_ROLES, type AgentRole } from './common/agent-role';

// Who comes in: people with a password and a second factor, their sessions, and the workspaces that they may enter. A method
// for somebody who is logged in takes a `Caller`: `callerOf(opened, origin)` of what `LoginSessionsService.authenticate`
// gave. Pass the `origin` of the request everywhere: guesses are limited by its `address`. Tokens are for cookies, and are
// stored as hashes.
export { LoginsService } from './logins/logins.service';
export { LoginSessionsService } from './logins/login-sessions.service';
export { LoginLinksService } from './logins/login-links.service';
export { InvitationsService } from './logins/invitations.service';
export { AcceptancesService } from './logins/acceptances.service';
export { PasswordsService } from './logins/passwords.service';
export { PasswordResetsService } from './logins/password-resets.service';
export { AgentPasswordsService } from './logins/agent-passwords.service';
export { SecondFactorsService } from './logins/second-factors.service';
export { PeopleService } from './logins/people.service';
export { OperatorLoginsService } from './logins/operator-logins.service';
export { OperatorSessionsService } from './logins/operator-sessions.service';
export type { AgentLogin } from './logins/memberships.repository';
export {
  AcceptInvitation,
  BeginSecondFactor,
  callerOf,
  ChangePassword,
  ConfirmNewSecondFactor,
  ConfirmSecondFactor,
  InviteAgent,
  LOCALES,
  LogIn,
  PasswordAndCode,
  RequestPasswordReset,
  ResetPassword,
  THEMES,
  UpdatePerson,
  type Caller,
  type InvitationSummary,
  type Locale,
  type LoggedIn,
  type LoginLink,
  type LoginSession,
  type Membership,
  type NewSecondFactor,
  type OpenedSession,
  type Person,
  type RecoveryCodes,
  type RenewedSession,
  type SecondFactorRequired,
  type SentInvitation,
  type SentLink,
  type Theme,
} from './logins/login.dto';

// API keys: `{app_url}/settings/api-keys`.
export { ApiKeysService } from './auth/api-keys.service';
export { CreateApiKey, ListApiKeys, type ApiKeySummary, type CreatedApiKey } from './auth/api-key.dto';

export { RateLimitUseService, type RateLimitUse } from './auth/rate-limit-use.service';

// Webhook endpoints, their deliveries, and the Test button: `{app_url}/settings/webhooks`.
export { WebhookEndpointsService } from './webhooks/endpoints/webhook-endpoints.service';
export { WebhookDeliveriesService } from './webhooks/browsing/webhook-deliveries.service';
export { WebhookRecoveriesService } from './webhooks/recoveries/webhook-recoveries.service';
export {
  RecoverEndpoint,
  RedeliverMatching,
  RedeliverOptions,
  type WebhookRecoverySummary,
} from './webhooks/recoveries/webhook-recovery.dto';
export { WebhookTestService } from './webhooks/browsing/webhook-test.service';
export { ALL_EVENTS } from './webhooks/endpoints/subscription';
export {
  CreateWebhookEndpoint,
  RollSecret,
  type CreatedWebhookEndpoint,
  type ServiceSignature,
  type WebhookEndpointSummary,
} from './webhooks/endpoints/webhook-endpoint.dto';
export {
  ListWebhookDeliveriesQuery,
  RedeliverDeliveries,
  type ReceivedBody,
  type RedeliveryResult,
  type WebhookAttemptDetail,
  type WebhookAttemptSummary,
  type WebhookDeliveryDetail,
  type WebhookDeliveryRequest,
  type WebhookDeliverySummary,
  type WebhookTestResult,
} from './webhooks/browsing/webhook-delivery.dto';
export {
  EndpointStatisticsService,
  type WebhookEndpointHealth,
} from './webhooks/rollups/endpoint-statistics.service';
export type { AttemptTotals } from './webhooks/rollups/attempt-rollups.repository';
export type { TimelineBucket, TimelinePeriod, WebhookTimeline } from './webhooks/rollups/timeline';
export { ATTEMPT_ERRORS, type AttemptError, type AttemptPhases } from './webhooks/sending/attempt-outcome';
// The catalog has the JSON Schema of each type's `data`; `exampleBody(type)` is a whole body.
export { exampleBody } from './webhooks/endpoints/example-body';
export { eventCatalog, isEventType, type EventData, type EventType } from './outbox/event-catalog';

// Events that a consumer could not take in: `consumer` is `webhooks` or `channels`. A request takes effect within
// seconds.
export { ParkedEventsService } from './parked-events/parked-events.service';
export type { ParkedEvent, ParkedEventKey } from './outbox/parked-events.repository';

// Encrypts stored secrets again under the first key of `secretsKeys`, so that an old key can be removed.
export { KeyRotationService } from './secrets/key-rotation.service';

// Channels: the workspace's accounts at providers. `reveal` of `connect` and `rotate` is returned once.
export { ChannelConnectionsService } from './channels/connections/channel-connections.service';
export {
  ConnectChannel,
  type ChannelConnectionSummary,
  type ConnectedChannel,
  type DisconnectedChannel,
} from './channels/connections/channel-connection.dto';
export type { ConnectionStatus } from './channels/connections/channel-connection.entity';
export { DELIVERY_ERROR_CODES, type DeliveryError, type DeliveryStatus } from './messages/message-status';

// Contacts, conversations and messages.
export { ContactsService } from './contacts/contacts.service';
export { CreateContact, ListContactsQuery, ContactResponse } from './contacts/contact.dto';
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

// What a workspace owes to its contacts. An erasure is for ever; a worker runs it.
export { ContactErasuresService } from './privacy/contact-erasures.service';
export { ContactExportService, type ContactExportLine } from './privacy/contact-export.service';
export type { ContactErasureSummary } from './privacy/contact-erasure.dto';

// The audit log. `record` is for what only the host sees, such as an agent's login.
export { AuditService, type AuditRecord } from './audit/audit.service';
// What a stranger can repeat at will, such as a failed login, is counted by `AuditTally`: an entry every ten minutes.
export { AuditTally, type CountedRecord } from './audit/audit-tally';
export {
  AUDIT_EXPORT_FORMATS,
  ExportAuditEntriesQuery,
  ListAuditEntriesQuery,
  type AuditExportFormat,
} from './audit/audit-entry.dto';
export type { AuditEntryEntity as AuditEntry } from './audit/audit-entry.entity';

// For a host that serves HTTP: bodies checked, errors answered, requests named, counted and logged as the REST API's are.
export { RequestPipe } from './http/request.pipe';
export { ErrorFilter } from './http/error.filter';
export { requestId, type IdentifiedRequest } from './http/request-id';
export { originOf } from './http/access.decorators';
export { accessLog } from './http/access-log';
export { createLogger, NestLogger } from './common/logger';
export { noticeUntrustedProxy } from './http/untrusted-proxy';
export { clientNetworkOf } from './http/client-network';
export { trustProxyOf } from './config/environment-values';
export { RateLimiter, type RateLimit } from './rate-limit/rate-limiter';
export { WorkBudgets, type WorkKind } from './rate-limit/work-budgets';
// A host that answers probes imports `HealthModule` beside `MessagingModule`.
export { HealthModule } from './health/health.module';
export { HealthService, type Readiness } from './health/health.service';
// At SIGTERM, before `app.close()`: no client's request is refused.
export { sendClientsAway } from './health/send-clients-away';
