/**
 * Types of the JSON that the routes below `/api` return, and all types of the service's packages. The
 * dashboard's pages import nothing else from the server. A `Date` arrives in the pages as text, because JSON
 * has no dates.
 */
import type {
  AutomaticRecoverySummary,
  ActiveConversation,
  AgentRole,
  AuditEntry,
  Channel,
  ChannelConnectionSummary,
  ChannelFileLimits,
  ContactErasureSummary,
  EndpointDay,
  Entitlement,
  ErrorDetail,
  EventType,
  Page,
  PlanTier,
  RateLimitUse,
  WaitingCount,
  WebhookDay,
  WebhookEndpointHealth,
  WebhookEndpointSummary,
} from 'conversation-messaging-service';
import type { LoginSession, Person, SentInvitation } from 'conversation-messaging-service/logins';

export type * from 'conversation-messaging-service';
export type * from 'conversation-messaging-service/logins';

/** Answer of `GET /api/session`. */
export interface DashboardSession {
  person: Person;
  workspaces: WorkspaceSummary[];
  /** Workspaces that are missing from `workspaces`, because their database server does not respond. */
  unreachableWorkspaces: number;
  /** Address of the REST API, such as `https://messaging.example.com/api/v1`. */
  apiUrl: string;
  /** Address at which browsers and channels' providers reach the service. */
  publicUrl: string;
}

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
  /** Days that people have to turn a second factor on, if the workspace demands one; null if it does not. */
  secondFactorGraceDays: number | null;
  /** Time from which a person without a second factor is locked out; null for all other people. */
  lockedAt: Date | null;
  /** Whether the person can't open the workspace until they turn a second factor on. */
  isLocked: boolean;
}

/**
 * Answer of `POST /api/login`. With `done` the session has begun; with `second_factor` the person must enter
 * a code first.
 */
export interface LoginResponse {
  status: 'done' | 'second_factor';
}

/** Answer of `GET /api/workspaces/:workspaceId/contacts/:id/erasure`. */
export interface RunningErasure {
  running: ContactErasureSummary | null;
}

/** Answer of a route that has stored a session's token in a cookie. */
export interface Done {
  status: 'done';
}

/**
 * Answer of `POST /api/links/accept`. With `done` the person is logged in; with `password_set` the person
 * must log in with the new password.
 */
export interface AcceptedLink {
  status: 'done' | 'password_set';
}

/** Item of `GET /api/account/sessions`. */
export interface LoginSessionResponse extends LoginSession {
  isCurrent: boolean;
}

/**
 * Answer of `GET /api/workspaces/:workspaceId/conversations/counts`: the number of conversations in each
 * view. 1,001 stands for more than 1,000.
 */
export interface InboxCounts {
  /** Open conversations that are assigned to the person. */
  mine: number;
  /** Open conversations that are assigned to no agent. */
  nobody: number;
  /** All open conversations. */
  all: number;
  /** Conversations whose customer waits for a reply. */
  waiting: number;
  /**
   * Conversations of any status with a reply that failed or may have failed, and that was neither sent again
   * nor dismissed.
   */
  lost: number;
}

/** Item of `GET /api/workspaces/:workspaceId/conversations`. */
export interface InboxConversation extends ActiveConversation {
  /** Whether a customer's message is unread, or the conversation was marked as unread or handed over. */
  isUnread: boolean;
}

/** Answer of `GET /api/workspaces/:workspaceId/uploads/limits`. */
export interface FileLimits {
  /** Maximum number of files of a reply. */
  maxFiles: number;
  channels: Record<Channel, ChannelFileLimits>;
}

/** Answer of `GET /api/workspaces/:workspaceId/overview`. */
export interface WorkspaceOverview extends WorkspaceSummary, WorkspaceSettings {
  rateLimit: {
    /** Requests a minute that the REST API accepts on each path. */
    perMinute: number;
    /** Paths with requests in the current minute, busiest first; null if Redis can't return the counts. */
    paths: RateLimitUse[] | null;
  };
  /** Numbers of agents, keys and the like. A person with the role AGENT receives only that of agents. */
  counts: WorkspaceCounts | Pick<WorkspaceCounts, 'agents'>;
}

export interface WorkspaceCounts {
  agents: number;
  apiKeys: number;
  webhookEndpoints: number;
  channels: number;
}

/**
 * Answer of `GET /api/workspaces/:workspaceId/first-page`: the figures of the dashboard's first page. In each
 * number 1,001 stands for more than 1,000.
 */
export interface FirstPage {
  openConversations: number;
  /** Conversations whose customer waits for a reply, and the time since which the longest has waited. */
  waiting: WaitingCount;
  /** Messages that wait until their channel sends them. */
  waitingMessages: number;
  /** Conversations with a reply that failed or may have failed, and was neither sent again nor dismissed. */
  lostReplies: number;
  hasConversation: boolean;
  /** Figures that only managers may read; null for a person with the role AGENT. */
  managed: ManagedFirstPage | null;
}

export interface ManagedFirstPage {
  channels: Pick<ChannelConnectionSummary, 'channel' | 'status' | 'lastReceivedAt'>[];
  endpoints: Pick<
    WebhookEndpointSummary,
    'id' | 'name' | 'url' | 'active' | 'failingSince' | 'lastSuccessAt' | 'deactivation'
  >[];
  webhooks: WebhookDay;
}

/** Body of `PATCH /api/workspaces/:workspaceId`. */
export interface WorkspaceSettings {
  /** Days after which messages are erased; null if they are never erased. */
  messageRetentionDays: number | null;
}

/** Item of `GET /api/workspaces/:workspaceId/agents`. */
export interface AgentResponse {
  id: string;
  name: string;
  /** Name that customers see; null if customers see no name of the agent. */
  displayName: string | null;
  email: string;
  role: AgentRole;
  isBot: boolean;
  active: boolean;
  /** Whether the agent's name and e-mail address are erased. */
  isErased: boolean;
  createdAt: Date;
}

/** Answer of `POST /api/workspaces/:workspaceId/agents`. */
export interface InvitedAgent extends SentInvitation {
  agent: AgentResponse;
}

/** Item of `GET /api/workspaces/:workspaceId/event-types`. */
export interface EventTypeResponse {
  type: EventType;
  description: string;
  /** `fact`: the event reports a change; `test`: only the Test button sends the event, to any endpoint. */
  kind: 'fact' | 'test';
  /** JSON Schema of the body's `data`. */
  schema: object;
  /** Example of a webhook's whole body. */
  example: object;
}

/** Item of `GET /api/workspaces/:workspaceId/webhook-endpoints`. */
export interface WebhookEndpointListItem extends WebhookEndpointSummary {
  last24Hours: Omit<EndpointDay, 'endpointId'>;
}

/** Answer of `GET /api/workspaces/:workspaceId/webhook-endpoints/:id`. */
export interface WebhookEndpointResponse extends WebhookEndpointSummary {
  health: WebhookEndpointHealth;
}

/** Answer of `GET /api/workspaces/:workspaceId/webhook-endpoints/:id/automatic-recovery`. */
export interface AutomaticRecoveryResponse {
  data: AutomaticRecoverySummary | null;
}

/** Answer of `POST /api/workspaces/:workspaceId/webhook-endpoints/check-url`. */
export type UrlCheck = { ok: true } | { ok: false; fault: ErrorDetail };

/** Item of `GET /api/workspaces/:workspaceId/audit-entries`. */
export type AuditEntryResponse = Omit<AuditEntry, 'tenantId'>;
export type AuditPage = Page<AuditEntryResponse>;

/** Item of `GET /api/workspaces/:workspaceId/parked-events`. */
export interface ParkedEventResponse {
  eventId: string;
  consumer: string;
  error: string;
  queuedAt: Date;
  parkedAt: Date;
  request: 'RETRY' | 'GIVE_UP' | null;
}
