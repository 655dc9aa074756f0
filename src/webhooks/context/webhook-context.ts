import { AttachmentResponse } from '../../attachments/attachment.dto';
import { ContactResponse } from '../../contacts/contact.dto';
import { ConversationResponse } from '../../conversations/conversation.dto';
import { AgentResponse } from '../../workspaces/agent.dto';
import { ContextPart } from './context-parts';

/**
 * Conversation, contact, sender and attachments of an event as they are when the attempt begins. A part is
 * null if the event has none, if its contact is erased, or if the actor who switched the context on may not
 * read it.
 */
export interface WebhookContext {
  conversation: ConversationResponse | null;
  contact: ContactResponse | null;
  /** Agent who wrote the message; null for a customer's message and for an event without a message. */
  sender: AgentResponse | null;
  /** Files of the event's message, in their order; null for an event without a message. */
  attachments: AttachmentResponse[] | null;
}

export const NO_CONTEXT: WebhookContext = {
  conversation: null,
  contact: null,
  sender: null,
  attachments: null,
};

export function withParts(context: WebhookContext, parts: ContextPart[]): WebhookContext {
  const { conversation, contact, sender, attachments } = context;
  return {
    conversation: parts.includes('conversation') ? conversation : null,
    contact: parts.includes('contact') ? contact : null,
    sender: parts.includes('sender') ? sender : null,
    attachments: parts.includes('attachments') ? attachments : null,
  };
}
