// The server's types as the page receives them in JSON: dates are strings.
import type * as server from '../../../server/src/api';
import type { Json } from './json';

export type {
  AgentRole,
  AlertKind,
  ALL_EVENTS,
  AttachmentProblem,
  AttributeValue,
  BodyLimits,
  ChangedConversation,
  Channel,
  ChannelFileLimits,
  ConversationStatus,
  DeliveryErrorCode,
  DeliveryStatus,
  Entitlement,
  ErrorValues,
  EventType,
  FaultCode,
  FileKind,
  Locale,
  LostStatus,
  MAX_ATTRIBUTES,
  MAX_BODY_CHARACTERS,
  MAX_DRAFT_CHARACTERS,
  MAX_ENDPOINT_DESCRIPTION,
  MAX_ENDPOINT_NAME,
  MAX_ENDPOINT_RATE,
  MAX_NOTE_CHARACTERS,
  PlanTier,
  ReasonCode,
  SavedReplyVariable,
  Scope,
  Theme,
  Thing,
} from '../../../server/src/api';

export type Page<T> = Json<server.Page<T>>;
export type ErrorBody = Json<server.ErrorBody>;
export type ErrorDetail = server.ErrorDetail;
export type Session = Json<server.DashboardSession>;
export type Person = Json<server.Person>;
export type Workspace = Json<server.WorkspaceSummary>;
export type FirstPage = Json<server.FirstPage>;
export type ManagedFirstPage = Json<server.ManagedFirstPage>;
export type WorkspaceCounts = Json<server.WorkspaceCounts>;
export type WorkspaceOverview = Json<server.WorkspaceOverview>;
export type LoginAnswer = Json<server.LoginResponse>;
export type AcceptedLink = Json<server.AcceptedLink>;
export type Link = Json<server.LoginLink>;
export type LoginSession = Json<server.LoginSessionResponse>;
export type PushState = server.PushState;
export type NewSecondFactor = Json<server.NewSecondFactor>;
export type RecoveryCodes = Json<server.RecoveryCodes>;
export type Agent = Json<server.AgentResponse>;
export type Invitation = Json<server.InvitationSummary>;
export type InvitedAgent = Json<server.InvitedAgent>;
export type SentLink = Json<server.SentLink>;
export type ApiKey = Json<server.ApiKeySummary>;
export type CreatedApiKey = Json<server.CreatedApiKey>;
export type RevokedApiKey = Json<server.RevokedApiKey>;
export type RevokeApiKey = Json<server.RevokeApiKey>;
export type CreateApiKey = Json<server.CreateApiKey>;
export type EventTypeInfo = Json<server.EventTypeResponse>;
export type EndpointMaker = Json<server.EndpointMaker>;
export type EndpointListItem = Json<server.WebhookEndpointListItem>;
export type Endpoint = Json<server.WebhookEndpointResponse>;
export type CreatedEndpoint = Json<server.CreatedWebhookEndpoint>;
export type UrlCheck = server.UrlCheck;
export type TestResult = Json<server.WebhookTestResult>;
export type DeliverySummary = Json<server.WebhookDeliverySummary>;
export type DeliveryDetail = Json<server.WebhookDeliveryDetail>;
export type AttemptDetail = Json<server.WebhookAttemptDetail>;
export type AutomaticRecovery = Json<server.AutomaticRecoveryResponse>;
export type Recovery = Json<server.WebhookRecoverySummary>;
export type ChannelConnection = Json<server.ChannelConnectionSummary>;
export type ConnectedChannel = Json<server.ConnectedChannel>;
export type DisconnectedChannel = Json<server.DisconnectedChannel>;
export type ActiveConversation = Json<server.InboxConversation>;
export type ContactSummary = Json<server.ContactResponse>;
export type Contact = Json<server.ContactDetail>;
export type CreateContact = Json<server.CreateContact>;
export type UpdateContact = Json<server.UpdateContact>;
export type ContactErasure = Json<server.ContactErasureSummary>;
export type RunningErasure = Json<server.RunningErasure>;
export type ContactConversation = Json<server.ContactConversation>;
export type ReplyCheck = Json<server.ReplyCheck>;
export type Conversation = Json<server.ConversationDetail>;
export type UpdateConversation = Json<server.UpdateConversation>;
export type ConversationChange = Json<server.ConversationChange>;
export type InboxCounts = Json<server.InboxCounts>;
export type ConversationPresence = Json<server.ConversationPresence>;
export type SignalPresence = Json<server.SignalPresence>;
export type Unread = Json<server.Unread>;
export type UnreadConversation = Unread['latest'][number];
export type MarkRead = Json<server.MarkRead>;
export type MessagesPart = Json<server.MessagesPart>;
export type FoundConversation = Json<server.FoundConversation>;
export type FoundMessages = Json<server.FoundMessages>;
export type FoundMessage = FoundMessages['data'][number];
export type Message = MessagesPart['data'][number];
export type Attachment = Message['attachments'][number];
export type Upload = Json<server.UploadResponse>;
export type FileLimits = Json<server.FileLimits>;
export type FileForm = keyof server.ChannelFileLimits['forms'];
export type Draft = Json<server.DraftResponse>;
export type SaveDraft = Json<server.SaveDraft>;
export type DraftSummary = Json<server.DraftSummary>;
export type NoticeChoices = Json<server.NoticeChoicesResponse>;
export type ChooseNotices = Json<server.ChooseNotices>;
export type SavedReply = Json<server.SavedReplyResponse>;
export type Note = Json<server.NoteResponse>;
export type SentReply = Json<server.SentReplyResponse>;
export type OpenAlert = Json<server.AlertResponse>;
export type AlertMailChoice = Json<server.AlertMailChoice>;
export type AuditValues = server.AuditValues;
export type AuditEntry = Json<server.AuditEntryResponse>;
export type ParkedEvent = Json<server.ParkedEventResponse>;

/** Durations of an attempt's phases in milliseconds. On a reused connection, set-up phases are null. */
export type Phases = AttemptDetail['phases'];
export type ReceivedBody = NonNullable<AttemptDetail['response']>;

export type Timeline = Json<server.WebhookTimeline>;
export type TimelineBucket = Timeline['buckets'][number];
export type RedeliveryResult = Json<server.RedeliveryResult>;
