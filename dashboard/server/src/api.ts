/**
 * What the pages and this server say to each other, as types: bodies, queries and answers of the routes below `/api`.
 * The page imports nothing else of the server. In JSON a `Date` is text.
 */
import type {
  AgentRole,
  AuditEntry,
  Entitlement,
  ErrorBody,
  Page,
  PlanTier,
  RateLimitUse,
  WebhookEndpointHealth,
  WebhookEndpointSummary,
} from 'conversation-messaging-service';
import type { LoginSession, Person, SentInvitation } from 'conversation-messaging-service/logins';

// Answers, as the services give them.
export type {
  AgentRole,
  ApiKeySummary,
  Channel,
  ChannelConnectionSummary,
  ConnectedChannel,
  CreatedApiKey,
  CreatedWebhookEndpoint,
  DisconnectedChannel,
  Entitlement,
  ErrorBody,
  Page,
  PlanTier,
  RateLimitUse,
  RedeliveryResult,
  Scope,
  WebhookAttemptDetail,
  WebhookAttemptSummary,
  WebhookDeliveryDetail,
  WebhookDeliverySummary,
  WebhookEndpointHealth,
  WebhookEndpointSummary,
  WebhookRecoverySummary,
  WebhookTestResult,
  WebhookTimeline,
} from 'conversation-messaging-service';
export type {
  InvitationSummary,
  Locale,
  LoginLink,
  LoginSession,
  NewSecondFactor,
  Person,
  RecoveryCodes,
  SentInvitation,
  SentLink,
  Theme,
} from 'conversation-messaging-service/logins';

// Bodies and queries.
export type {
  ConnectChannel,
  CreateApiKey,
  CreateWebhookEndpoint,
  ListAuditEntriesQuery,
  ListWebhookDeliveriesQuery,
  RecoverEndpoint,
  RedeliverDeliveries,
  RollSecret,
  UpdateAgent,
} from 'conversation-messaging-service';
export type {
  BeginSecondFactor,
  ChangePassword,
  ConfirmNewSecondFactor,
  InviteAgent,
  PasswordAndCode,
  RequestPasswordReset,
  UpdatePerson,
} from 'conversation-messaging-service/logins';
export type { ExportAuditQuery } from './audit/audit.dto';
export type { RotateChannel } from './channels/channel.dto';
export type { RedeliverMatchingBody } from './deliveries/delivery.dto';
export type { AcceptLinkBody, CodeBody, LinkBody, LogInBody } from './login/login.dto';
export type { CheckUrl, TimelineQuery } from './webhooks/webhook-endpoint.dto';
export type { AddAgent } from './workspace/agent.dto';
export type { UpdateWorkspaceSettings } from './workspace/workspace.dto';

/** Every answer that is not a success. `requestId` is in the logs, too. */
export type ApiError = ErrorBody;

/** `GET /api/session` */
export interface SessionResponse {
  person: Person;
  workspaces: WorkspaceSummary[];
  /** The REST API, such as `https://messaging.example.com/api/v1`. */
  apiUrl: string;
  /** Where browsers and channels' providers reach the service. */
  publicUrl: string;
}

/** A workspace of the person, and what the person is in it. */
export interface WorkspaceSummary {
  id: string;
  slug: string;
  name: string;
  role: AgentRole;
  agentId: string;
  planTier: PlanTier;
  trialEndsAt: Date | null;
  isTrialExpired: boolean;
  isSuspended: boolean;
  entitlements: Entitlement[];
}

/** `POST /api/login`: whether the session has begun, or a code is asked for first. */
export interface LoginResponse {
  status: 'done' | 'second_factor';
}

/** The session has begun. */
export interface Done {
  status: 'done';
}

/** `POST /api/links/accept`: logged in, or a new password is set and to be logged in with. */
export interface AcceptedLink {
  status: 'done' | 'password_set';
}

/** `GET /api/account/sessions` */
export interface LoginSessionResponse extends LoginSession {
  isCurrent: boolean;
}

/** `GET /api/workspaces/:workspaceId/overview` */
export interface WorkspaceOverview extends WorkspaceSummary, WorkspaceSettings {
  rateLimit: {
    /** For each path. */
    perMinute: number;
    /** Paths that were called in the present minute, the busiest first; null while they can't be counted. */
    paths: RateLimitUse[] | null;
  };
  counts: WorkspaceCounts;
}

/** Of what is in use. */
export interface WorkspaceCounts {
  agents: number;
  apiKeys: number;
  webhookEndpoints: number;
  channels: number;
}

/** `PATCH /api/workspaces/:workspaceId` */
export interface WorkspaceSettings {
  /** Messages older than this are erased; null keeps them for ever. */
  messageRetentionDays: number | null;
}

/** `GET /api/workspaces/:workspaceId/agents` */
export interface AgentResponse {
  id: string;
  name: string;
  /** What customers see; null for none. */
  displayName: string | null;
  email: string;
  role: AgentRole;
  isBot: boolean;
  active: boolean;
  createdAt: Date;
}

/** `POST /api/workspaces/:workspaceId/agents` */
export interface InvitedAgent extends SentInvitation {
  agent: AgentResponse;
}

/** `GET /api/workspaces/:workspaceId/event-types` */
export interface EventTypeResponse {
  type: string;
  description: string;
  /** A `test` is sent by the Test button alone, to any endpoint. */
  kind: 'fact' | 'test';
  /** The JSON Schema of `data`. */
  schema: object;
  /** A whole body, as an endpoint gets it. */
  example: object;
}

/** `GET /api/workspaces/:workspaceId/webhook-endpoints` */
export interface WebhookEndpointListItem extends WebhookEndpointSummary {
  last24Hours: AttemptCounts;
}

export interface AttemptCounts {
  succeeded: number;
  failed: number;
}

/** `GET /api/workspaces/:workspaceId/webhook-endpoints/:id` */
export interface WebhookEndpointResponse extends WebhookEndpointSummary {
  health: WebhookEndpointHealth;
}

/** `POST /api/workspaces/:workspaceId/webhook-endpoints/check-url` */
export type UrlCheck = { ok: true } | { ok: false; message: string };

/** `GET /api/workspaces/:workspaceId/audit-entries` */
export type AuditEntryResponse = Omit<AuditEntry, 'tenantId'>;
export type AuditPage = Page<AuditEntryResponse>;

/** `GET /api/workspaces/:workspaceId/parked-events` */
export interface ParkedEventResponse {
  eventId: string;
  consumer: string;
  error: string;
  queuedAt: Date;
  parkedAt: Date;
  request: 'RETRY' | 'GIVE_UP' | null;
}
