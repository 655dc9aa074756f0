import { ApiPropertyOptional } from '@nestjs/swagger';
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
  @ApiPropertyOptional({ enum: CONVERSATION_STATUSES, description: 'Only those with this status.' })
  @IsOptional()
  @IsIn(CONVERSATION_STATUSES)
  status?: ConversationStatus;

  @ApiPropertyOptional({ enum: CHANNELS, description: 'Only those on this channel.' })
  @IsOptional()
  @IsIn(CHANNELS)
  channel?: Channel;
}

/** What of a conversation is to change: at least one of the two. */
export class UpdateConversation {
  @ApiPropertyOptional({
    enum: CONVERSATION_STATUSES,
    example: 'CLOSED',
    description: 'Any status may follow any.',
  })
  @ValidateIf((_, value) => value !== undefined)
  @IsIn(CONVERSATION_STATUSES)
  status?: ConversationStatus;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    example: '019ab3ee-1f2d-7b3c-9e4f-5a6b7c8d9e0f',
    description: 'An active agent of the workspace; null removes the assignment.',
  })
  @IsOptional()
  @IsString()
  assignedAgentId?: string | null;
}
