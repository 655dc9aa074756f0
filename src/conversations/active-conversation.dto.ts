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

  /** Id of an agent, or the value for conversations without one. */
  @IsOptional()
  @IsString()
  assignedAgentId?: string;
}

/** Limit of the conversations that a list is asked for by their ids. */
const MAX_NAMED = 100;

export class ListActiveConversationsQuery extends IntersectionType(
  PageQuery,
  OmitType(CountConversationsQuery, ['status']),
) {
  /** Status of the conversations. It is required unless `view` is given. */
  @ValidateIf(({ view, status }: ListActiveConversationsQuery) => view === undefined || status !== undefined)
  @IsIn(CONVERSATION_STATUSES)
  status?: ConversationStatus;

  /** View of conversations with lost replies, whatever their status. */
  @IsOptional()
  @IsIn(['lost'])
  view?: 'lost';

  @IsOptional()
  @IsIn(CHANNELS)
  channel?: Channel;

  /** Up to 100 ids of conversations. The list has no others. In a query they are one text with commas. */
  @IsOptional()
  @IsIdList(MAX_NAMED)
  ids?: string[];
}

export class ContactConversation extends ConversationListItem {
  /** Agent who wrote the newest message; null if it is the customer's, or there is none. */
  lastSenderAgentId: string | null;
}

export class ActiveConversation extends ContactConversation {
  /** Id of the newest message; null before the first one. */
  lastMessageId: string | null;

  /** Status of the newest lost reply; null without one. */
  lost: LostStatus | null;

  contact: ContactNameResponse;
}

export function toContactConversation(conversation: ContactActivity): ContactConversation {
  const { lastSenderAgentId } = conversation;
  return { ...toConversationListItem(conversation), lastSenderAgentId };
}

export function toActiveConversation(conversation: ListedActivity): ActiveConversation {
  const { lastMessageId, lost, contactId, contactName } = conversation;
  const contact = { id: contactId, name: contactName };
  return { ...toContactConversation(conversation), lastMessageId, lost, contact };
}
