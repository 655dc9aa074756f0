import { ContactResponse } from '../../contacts/contact.dto';
import { ConversationResponse } from '../../conversations/conversation.dto';
import { AgentResponse } from '../../workspaces/agent.dto';
import { ContextPart } from './context-parts';

/**
 * Conversation, contact and sender of an event as they are when the attempt begins. A part is null if the
 * event has none, if its contact is erased, or if the actor who switched the context on may not read it.
 */
export interface WebhookContext {
  conversation: ConversationResponse | null;
  contact: ContactResponse | null;
  /** Agent who wrote the message; null for a customer's message and for an event without a message. */
  sender: AgentResponse | null;
}

export const NO_CONTEXT: WebhookContext = { conversation: null, contact: null, sender: null };

export function withParts(context: WebhookContext, parts: ContextPart[]): WebhookContext {
  const { conversation, contact, sender } = context;
  return {
    conversation: parts.includes('conversation') ? conversation : null,
    contact: parts.includes('contact') ? contact : null,
    sender: parts.includes('sender') ? sender : null,
  };
}
