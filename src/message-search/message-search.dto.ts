import { ApiProperty, ApiPropertyOptional, ApiSchema, PickType } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { type Channel, CHANNELS } from '../common/channel-descriptors';
import { MAX_LIMIT, PageQuery } from '../common/page';
import { IsStorableText, IsText, MaxCharacters } from '../common/validators';
import { CONVERSATION_STATUSES, type ConversationStatus } from '../conversations/conversation.entity';
import type { ActiveConversation } from '../conversations/active-conversation.dto';
import { ContactNameResponse } from '../conversations/conversation.dto';
import { SENDER_AGENT_ID, SENDER_TYPE } from '../messages/message.dto';
import type { SenderType } from '../messages/message.entity';
import { ExcerptPart } from './search-phrases';

const MAX_SEARCH_CHARACTERS = 200;

export class SearchMessagesQuery extends PageQuery {
  /** Words that a message must all have, and phrases in quotation marks. Case and accents do not matter. */
  @MaxCharacters(MAX_SEARCH_CHARACTERS)
  @IsStorableText()
  text: string;

  /** Status of the conversations whose messages are found; any status by default. */
  @IsOptional()
  @IsIn(CONVERSATION_STATUSES)
  status?: ConversationStatus;
}

export class FindMessagesQuery extends PageQuery {
  @ApiProperty({
    maxLength: MAX_SEARCH_CHARACTERS,
    description:
      'Words that a message must all have, and phrases between quotation marks. Case and accents do not matter, and the ' +
      'last letters of a word may be left out. A search that takes too long is answered with 503.',
    example: 'parcel "on its way"',
  })
  @IsText(MAX_SEARCH_CHARACTERS)
  q: string;

  @ApiPropertyOptional({
    enum: CONVERSATION_STATUSES,
    enumName: 'ConversationStatus',
    description: 'Only messages of conversations with this status.',
  })
  @IsOptional()
  @IsIn(CONVERSATION_STATUSES)
  status?: ConversationStatus;
}

export function toSearch({ q, ...others }: FindMessagesQuery): SearchMessagesQuery {
  return { text: q, ...others };
}

export class FoundMessage {
  @ApiProperty({ example: '019ab3f6-0d4b-7c55-8a2e-6f1f7d1b2c90' })
  id: string;

  @ApiProperty({ example: '019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11' })
  conversationId: string;

  @ApiProperty(SENDER_TYPE)
  senderType: SenderType;

  @ApiProperty(SENDER_AGENT_ID)
  senderAgentId: string | null;

  @ApiProperty({ example: '2026-11-20T09:41:07.512Z' })
  createdAt: Date;

  @ApiProperty({
    type: [ExcerptPart],
    description: 'The text around the first hit, in parts: one after the other, they are the excerpt.',
  })
  excerpt: ExcerptPart[];

  @ApiProperty({ enum: CHANNELS, enumName: 'Channel', example: 'WHATSAPP' })
  sourceChannel: Channel;

  @ApiProperty({ enum: CONVERSATION_STATUSES, enumName: 'ConversationStatus', example: 'OPEN' })
  status: ConversationStatus;

  @ApiProperty()
  contact: ContactNameResponse;
}

export class SearchConversationsQuery extends PickType(SearchMessagesQuery, ['text']) {}

/** Conversation of a contact whose name, e-mail or phone contains the searched text. */
export type FoundConversation = Pick<
  ActiveConversation,
  'id' | 'sourceChannel' | 'status' | 'lastMessagePreview' | 'lastMessageAt' | 'lastSenderAgentId' | 'contact'
>;

@ApiSchema({ name: 'FoundMessagePage' })
export class FoundMessages {
  @ApiProperty({ type: [FoundMessage], maxItems: MAX_LIMIT })
  data: FoundMessage[];

  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description:
      'Send it as `cursor` to go on. A page may be short, or empty, before the last one. null when all messages were looked ' +
      'through.',
  })
  nextCursor: string | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    example: null,
    description:
      'Time of the oldest message that was looked at, when the page ends before it is full; otherwise null.',
  })
  searchedUntil: Date | null;

  @ApiProperty({
    example: true,
    description:
      'False while messages that are older than the search are still being added to its index: some are not found yet.',
  })
  isIndexComplete: boolean;
}
