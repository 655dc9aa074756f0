import { IsIn, IsOptional, IsString, ValidateIf } from 'class-validator';
import { type Channel, CHANNELS } from '../common/channel';
import { PageQuery } from '../common/page';
import { CONVERSATION_STATUSES, type ConversationStatus } from './conversation.entity';

/** A conversation to be opened with a contact. */
export class CreateConversation {
  @IsString()
  contactId: string;

  @IsIn(CHANNELS)
  channel: Channel;
}

/** Which conversations a list shows. */
export class ListConversationsQuery extends PageQuery {
  @IsOptional()
  @IsIn(CONVERSATION_STATUSES)
  status?: ConversationStatus;

  @IsOptional()
  @IsIn(CHANNELS)
  channel?: Channel;
}

/** What of a conversation is to change: at least one of the two. */
export class UpdateConversation {
  @ValidateIf((_, value) => value !== undefined)
  @IsIn(CONVERSATION_STATUSES)
  status?: ConversationStatus;

  /** null removes the assignment. */
  @IsOptional()
  @IsString()
  assignedAgentId?: string | null;
}
