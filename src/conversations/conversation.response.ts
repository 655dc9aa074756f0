import { Channel } from '../common/channel';
import { ContactResponse } from '../contacts/contact.response';
import { ConversationEntity, ConversationStatus } from './conversation.entity';

/** A conversation in a list. */
export class ConversationListItem {
  id: string;
  sourceChannel: Channel;
  status: ConversationStatus;
  assignedAgentId: string | null;
  /** The first 140 characters of the latest message, on one line; null before the first message. */
  lastMessagePreview: string | null;
  lastMessageAt: Date | null;
  createdAt: Date;
}

/** A conversation as a change to it answers: without the contact, which a key that may only write must not read. */
export class ConversationResponse extends ConversationListItem {
  updatedAt: Date;
}

/** A conversation with its contact. */
export class ConversationDetail extends ConversationResponse {
  contact: ContactResponse;
}

export function toConversationListItem(conversation: ConversationEntity): ConversationListItem {
  const { id, sourceChannel, status, assignedAgentId, lastMessagePreview, lastMessageAt, createdAt } =
    conversation;
  return { id, sourceChannel, status, assignedAgentId, lastMessagePreview, lastMessageAt, createdAt };
}

export function toConversation(conversation: ConversationEntity): ConversationResponse {
  return { ...toConversationListItem(conversation), updatedAt: conversation.updatedAt };
}

export function toConversationDetail(
  conversation: ConversationEntity,
  contact: ContactResponse,
): ConversationDetail {
  return { ...toConversation(conversation), contact };
}
