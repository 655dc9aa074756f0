/**
 * Types of the answers of the routes below `/api`, and all types of the service's package. The pages import
 * nothing else of the server. In JSON a `Date` is text.
 */
import type {
  ActiveConversation,
  AgentRole,
  AuditEntry,
  ChannelConnectionSummary,
  ContactErasureSummary,
  DeliveryTotals,
  Entitlement,
  ErrorDetail,
  EventType,
  Page,
  PlanTier,
  RateLimitUse,
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
  /** Number of further workspaces whose server does not answer. */
  unreachableWorkspaces: number;
  /** Address of the REST API, such as `https://messaging.example.com/api/v1`. */
  apiUrl: string;
  /** Address at which browsers and channels' providers reach the service. */
  publicUrl: string;
}

/** A workspace of the person, with the person's role in it. */
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
  /** Days of grace, if the workspace demands a second factor of its people; null if it does not. */
  secondFactorGraceDays: number | null;
  /** Time at which the person without a second factor is locked out; null for others. */
  lockedAt: Date | null;
  /** Whether the person is locked out until they turn a second factor on. */
  isLocked: boolean;
}

/** Answer of `POST /api/login`: the session has begun, or a code is needed first. */
export interface LoginResponse {
  status: 'done' | 'second_factor';
}

/** Answer of `GET /api/workspaces/:workspaceId/contacts/:id/erasure`. */
export interface RunningErasure {
  /** The erasure that is in progress; null if there is none. */
  running: ContactErasureSummary | null;
}

/** Answer that says that the session has begun. */
export interface Done {
  status: 'done';
}

/** Answer of `POST /api/links/accept`: the person is logged in, or has set a new password to log in with. */
export interface AcceptedLink {
  status: 'done' | 'password_set';
}

/** Item of `GET /api/account/sessions`. */
export interface LoginSessionResponse extends LoginSession {
  isCurrent: boolean;
}

/**
 * Answer of `GET /api/workspaces/:workspaceId/conversations/counts`: the conversations of each view. In each
 * number 1,001 stands for more than 1,000.
 */
export interface InboxCounts {
  /** Open conversations of the person. */
  mine: number;
  /** Open conversations that are assigned to no agent. */
  nobody: number;
  /** Open conversations. */
  all: number;
  /** Conversations with lost replies, whatever their status. */
  lost: number;
}

/** Item of `GET /api/workspaces/:workspaceId/conversations`. */
export interface InboxConversation extends ActiveConversation {
  /** True if the customer has written a message that the person has not read. */
  isUnread: boolean;
}

/** Answer of `GET /api/workspaces/:workspaceId/overview`. */
export interface WorkspaceOverview extends WorkspaceSummary, WorkspaceSettings {
  rateLimit: {
    /** Requests a minute for each path. */
    perMinute: number;
    /** Paths that were called in the present minute, the busiest first; null while they can't be counted. */
    paths: RateLimitUse[] | null;
  };
  /** Numbers of things in use; an AGENT gets the number of agents alone. */
  counts: WorkspaceCounts | Pick<WorkspaceCounts, 'agents'>;
}

/** Numbers of keys, endpoints and the like that are in use. */
export interface WorkspaceCounts {
  agents: number;
  apiKeys: number;
  webhookEndpoints: number;
  channels: number;
}

/**
 * Answer of `GET /api/workspaces/:workspaceId/first-page`. In each number 1,001 stands for more than 1,000.
 */
export interface FirstPage {
  openConversations: number;
  /** Number of messages that wait for their channel. */
  waitingMessages: number;
  /** Number of conversations with lost replies. */
  lostReplies: number;
  hasConversation: boolean;
  /** Figures that only managers may read; null for an AGENT. */
  managed: ManagedFirstPage | null;
}

/** The part of the first page that only managers may read. */
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
  /** Days after which messages are erased; null keeps them for ever. */
  messageRetentionDays: number | null;
}

/** Item of `GET /api/workspaces/:workspaceId/agents`. */
export interface AgentResponse {
  id: string;
  name: string;
  /** Name by which customers know the agent; null if they see none. */
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
  /** Kind of event. Only the Test button sends a `test`, and to any endpoint. */
  kind: 'fact' | 'test';
  /** JSON Schema of `data`. */
  schema: object;
  /** Example of a whole body, as an endpoint gets it. */
  example: object;
}

/** Item of `GET /api/workspaces/:workspaceId/webhook-endpoints`. */
export interface WebhookEndpointListItem extends WebhookEndpointSummary {
  last24Hours: Omit<DeliveryTotals, 'endpointId'>;
}

/** Answer of `GET /api/workspaces/:workspaceId/webhook-endpoints/:id`. */
export interface WebhookEndpointResponse extends WebhookEndpointSummary {
  health: WebhookEndpointHealth;
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
