import type { QueryOf } from './operation-types.ts';

export type {
  Agent,
  AgentRole,
  ApiKeyIdentity,
  Attachment,
  AttachmentInput,
  AttachmentUpdatedEvent,
  AuditEvent,
  Channel,
  ChannelStatusChangedEvent,
  Contact,
  ContactChanges,
  ContactCreatedEvent,
  ContactIdentity,
  ContactName,
  ContactUpdatedEvent,
  Conversation,
  ConversationChanges,
  ConversationCreatedEvent,
  ConversationDetail,
  ConversationListItem,
  ConversationStatus,
  ConversationUpdatedEvent,
  ErrorCode,
  ErrorDetail,
  ExcerptPart,
  FoundMessage,
  FoundMessagePage,
  Message,
  MessageCreatedEvent,
  MessageDelivery,
  MessageDeliveryError,
  MessageStatusChangedEvent,
  ContactInput,
  ContactIdentityInput,
  ConversationInput,
  MessageInput,
  WebhookEndpointInput,
  RegisteredWebhookEndpoint,
  Scope,
  SecretRoll,
  Tenant,
  Upload,
  UploadInput,
  VerifiedField,
  WebhookContext,
  WebhookContextPart,
  WebhookEndpoint,
  WebhookEndpointChanges,
  WebhookEndpointDeactivation,
  WebhookEndpointWithSecret,
  WebhookTest,
  WebhookTestEvent,
} from './generated/openapi.ts';
export type GetAttachmentContentQuery = QueryOf<'getAttachmentContent'>;
export type { ApiPath, OperationId } from './operation-types.ts';

export type ListAgentsQuery = QueryOf<'listAgents'>;
export type ListContactsQuery = QueryOf<'listContacts'>;
export type ListConversationsQuery = QueryOf<'listConversations'>;
export type ListMessagesQuery = QueryOf<'listMessages'>;
export type ListWebhookEndpointsQuery = QueryOf<'listWebhookEndpoints'>;
export type SearchMessagesQuery = QueryOf<'searchMessages'>;
