import { IntersectionType, OmitType } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString, ValidateIf } from 'class-validator';
import { type Channel, CHANNELS } from '../common/channel-descriptors';
import { PageQuery } from '../common/page';
import { IsIdList } from '../common/validators';
import { ContactNameResponse, ConversationListItem, toConversationListItem } from './conversation.dto';
import { CONVERSATION_STATUSES, type ConversationStatus } from './conversation.entity';
import type { ContactActivity, ListedActivity } from './conversation-lists.repository';
import type { LostStatus } from './lost-replies';

export class CountConversationsQuery {
  @IsIn(CONVERSATION_STATUSES)
  status: ConversationStatus;

  /** Id of an agent, or `NOBODY` for conversations without an agent. */
  @IsOptional()
  @IsString()
  assignedAgentId?: string;
}

const MAX_NAMED = 100;

export class ListActiveConversationsQuery extends IntersectionType(
  PageQuery,
  OmitType(CountConversationsQuery, ['status']),
) {
  /** Required unless `view` is given. */
  @ValidateIf(({ view, status }: ListActiveConversationsQuery) => view === undefined || status !== undefined)
  @IsIn(CONVERSATION_STATUSES)
  status?: ConversationStatus;

  /**
   * `lost` selects conversations, of any status, with a reply that was not delivered, or may not have been;
   * `waiting` those whose customer waits for a reply, the longest waiting first.
   */
  @IsOptional()
  @IsIn(['lost', 'waiting'])
  view?: 'lost' | 'waiting';

  @IsOptional()
  @IsIn(CHANNELS)
  channel?: Channel;

  /** Up to 100 ids, separated by commas in a query string. The list has only these conversations. */
  @IsOptional()
  @IsIdList(MAX_NAMED)
  ids?: string[];
}

export class ContactConversation extends ConversationListItem {
  /** Agent who wrote the newest message; null if a customer wrote it, or there is no message. */
  lastSenderAgentId: string | null;
}

export class ActiveConversation extends ContactConversation {
  /** Id of the newest message; null before the first message. */
  lastMessageId: string | null;

  /** Id of the customer's first message that waits for a reply; null if none does. */
  waitingMessageId: string | null;

  /** Status of the newest reply that was not delivered, or may not have been; null if there is none. */
  lost: LostStatus | null;

  contact: ContactNameResponse;
}

export function toContactConversation(conversation: Omit<ContactActivity, 'activity'>): ContactConversation {
  const { lastSenderAgentId } = conversation;
  return { ...toConversationListItem(conversation), lastSenderAgentId };
}

export function toActiveConversation(conversation: ListedActivity): ActiveConversation {
  const { lastMessageId, waitingMessageId, lost, contactId, contactName } = conversation;
  const contact = { id: contactId, name: contactName };
  return { ...toContactConversation(conversation), lastMessageId, waitingMessageId, lost, contact };
}
