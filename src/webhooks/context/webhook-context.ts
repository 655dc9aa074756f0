import { ContactResponse } from '../../contacts/contact.dto';
import { ConversationResponse } from '../../conversations/conversation.dto';
import { AgentResponse } from '../../workspaces/agent.dto';
import { ContextPart } from './context-parts';

/**
 * State of the subjects of an event at the moment of the attempt. A part is null when the event has none, or
 * when its contact is erased. It is null too when the actor who asked for the context may not read it.
 */
export interface WebhookContext {
  conversation: ConversationResponse | null;
  contact: ContactResponse | null;
  /** Agent who wrote the message; null for a customer's message and for events of no message. */
  sender: AgentResponse | null;
}

export const NO_CONTEXT: WebhookContext = { conversation: null, contact: null, sender: null };

/** Returns a context with some of its parts; the others are null. */
export function withParts(context: WebhookContext, parts: ContextPart[]): WebhookContext {
  const { conversation, contact, sender } = context;
  return {
    conversation: parts.includes('conversation') ? conversation : null,
    contact: parts.includes('contact') ? contact : null,
    sender: parts.includes('sender') ? sender : null,
  };
}
