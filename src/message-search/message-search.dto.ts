import { PickType } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { type Channel } from '../common/channel-descriptors';
import { PageQuery } from '../common/page';
import { IsStorableText, MaxCharacters } from '../common/validators';
import { CONVERSATION_STATUSES, type ConversationStatus } from '../conversations/conversation.entity';
import type { SenderType } from '../messages/message.entity';
import type { ExcerptPart } from './search-phrases';

const MAX_SEARCH_CHARACTERS = 200;

export class SearchMessagesQuery extends PageQuery {
  /**
   * Words that a message must all have, and phrases between quotation marks. Case and accents do not matter.
   */
  @MaxCharacters(MAX_SEARCH_CHARACTERS)
  @IsStorableText()
  text: string;

  /** Only messages of conversations with this status. */
  @IsOptional()
  @IsIn(CONVERSATION_STATUSES)
  status?: ConversationStatus;
}

/** Message that a search has found. */
export interface FoundMessage {
  id: string;
  conversationId: string;
  senderType: SenderType;
  /** Null for a customer's message. */
  senderAgentId: string | null;
  createdAt: Date;
  /** Text around the first hit, in parts: one after the other, they are the excerpt. */
  excerpt: ExcerptPart[];
  sourceChannel: Channel;
  status: ConversationStatus;
  contact: { id: string; name: string | null };
}

export class SearchConversationsQuery extends PickType(SearchMessagesQuery, ['text']) {}

/** Conversation of a contact whose name, e-mail or phone has what was searched for. */
export interface FoundConversation {
  id: string;
  sourceChannel: Channel;
  status: ConversationStatus;
  lastMessagePreview: string | null;
  lastMessageAt: Date | null;
  /** Agent who wrote the newest message; null if it is the customer's, or there is none. */
  lastSenderAgentId: string | null;
  contact: { id: string; name: string | null };
}

/** Page of found messages, newest first. */
export interface FoundMessages {
  data: FoundMessage[];
  /** Starts the next page; null when all indexed messages were looked through. */
  nextCursor: string | null;
  /**
   * Time of the oldest message that was looked at, when the page ends before it is full; otherwise null.
   */
  searchedUntil: Date | null;
  /** False while messages that were there before the index are still being added to it. */
  isIndexComplete: boolean;
}
