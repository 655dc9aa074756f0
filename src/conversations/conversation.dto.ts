import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString, MaxDate, MinDate } from 'class-validator';
import { type Channel, CHANNELS } from '../common/channel-descriptors';
import { validatorFault } from '../common/error-texts';
import { idTime } from '../common/ids';
import { PageQuery } from '../common/page';
import { IsDateTime, IsNullable } from '../common/validators';
import { ContactResponse } from '../contacts/contact.dto';
import {
  CONVERSATION_STATUSES,
  type ConversationStatus,
  ConversationEntity,
  endOfSnooze,
} from './conversation.entity';
import type { PositionedConversation } from './conversation-lists.repository';
import { ListedConversation } from './conversations.repository';

const DAY_MS = 24 * 60 * 60 * 1000;
const MAX_SNOOZE_DAYS = 366;

@ApiSchema({ name: 'ConversationInput' })
export class CreateConversation {
  @ApiProperty({ example: '019ab3f2-3b4c-7d5e-8f60-718293a4b5c6', description: 'The id of a contact.' })
  @IsString()
  contactId: string;

  @ApiProperty({ enum: CHANNELS, enumName: 'Channel', example: 'WHATSAPP' })
  @IsIn(CHANNELS)
  channel: Channel;
}

/** Value of the query parameter `assignedAgentId` that selects the conversations without an agent. */
export const NOBODY = 'nobody';
const SORTS = ['activity'] as const;
const NEEDS_REPLY = ['true'] as const;

export class ListConversationsQuery extends PageQuery {
  @ApiPropertyOptional({
    enum: CONVERSATION_STATUSES,
    enumName: 'ConversationStatus',
    description: 'Only those with this status.',
  })
  @IsOptional()
  @IsIn(CONVERSATION_STATUSES)
  status?: ConversationStatus;

  @ApiPropertyOptional({ enum: CHANNELS, enumName: 'Channel', description: 'Only those on this channel.' })
  @IsOptional()
  @IsIn(CHANNELS)
  channel?: Channel;

  @ApiPropertyOptional({
    description: `Only those that are assigned to the agent with this id; with \`${NOBODY}\`, those that nobody is assigned to.`,
    example: NOBODY,
  })
  @IsOptional()
  @IsString()
  assignedAgentId?: string;

  @ApiPropertyOptional({
    description: 'Only those with this contact.',
    example: '019ab3f2-3b4c-7d5e-8f60-718293a4b5c6',
  })
  @IsOptional()
  @IsString()
  contactId?: string;

  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    description:
      'Only those that have got a message, or another status or agent, since then: an ISO 8601 time with its zone. A change ' +
      'can become visible some seconds after its time: whoever asks again and again asks for the last minute once more.',
    example: '2026-11-20T09:00:00Z',
  })
  @IsOptional()
  @IsDateTime()
  updatedSince?: Date;

  @ApiPropertyOptional({
    enum: NEEDS_REPLY,
    description:
      'Only those whose customer waits for a reply. Those that have waited longest come first, and each row has its `contact`. ' +
      'A reply, or closing or snoozing the conversation, ends the wait. Not together with `sort`.',
  })
  @IsOptional()
  @IsIn(NEEDS_REPLY)
  needsReply?: (typeof NEEDS_REPLY)[number];

  @ApiPropertyOptional({
    enum: SORTS,
    description:
      'The order: with `activity` those with the latest messages come first, and each row has its `contact`. A conversation ' +
      'that gets a message while you read the pages moves to the first one: no page repeats it. By default the newest ' +
      'conversations come first.',
  })
  @IsOptional()
  @IsIn(SORTS)
  sort?: (typeof SORTS)[number];
}

@ApiSchema({ name: 'ConversationChanges' })
export class UpdateConversation {
  @ApiPropertyOptional({
    enum: CONVERSATION_STATUSES,
    enumName: 'ConversationStatus',
    example: 'CLOSED',
    description: 'Any status may follow any.',
  })
  @IsOptional()
  @IsIn(CONVERSATION_STATUSES)
  status?: ConversationStatus;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    example: '019ab3ee-1f2d-7b3c-9e4f-5a6b7c8d9e0f',
    description: 'An active agent of the workspace; null removes the assignment.',
  })
  @IsNullable()
  @IsString()
  assignedAgentId?: string | null;

  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    nullable: true,
    example: null,
    description: `When a snoozed conversation opens by itself, such as 2027-01-04T08:00:00Z: at most ${MAX_SNOOZE_DAYS} days ahead. Only with status SNOOZED, or while it is snoozed. null removes the time.`,
  })
  @IsNullable()
  @MaxDate(
    () => new Date(Date.now() + MAX_SNOOZE_DAYS * DAY_MS),
    validatorFault('too_far_ahead', { days: MAX_SNOOZE_DAYS }),
  )
  @MinDate(() => new Date(), validatorFault('not_future'))
  @IsDateTime()
  snoozedUntil?: Date | null;
}

export class ConversationListItem {
  @ApiProperty({ example: '019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11' })
  id: string;

  @ApiProperty({ enum: CHANNELS, enumName: 'Channel', example: 'WHATSAPP' })
  sourceChannel: Channel;

  @ApiProperty({ enum: CONVERSATION_STATUSES, enumName: 'ConversationStatus', example: 'OPEN' })
  status: ConversationStatus;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When it opens by itself; null when it is not snoozed, or snoozed without an end.',
    example: null,
  })
  snoozedUntil: Date | null;

  @ApiProperty({ type: String, nullable: true, example: '019ab3ee-1f2d-7b3c-9e4f-5a6b7c8d9e0f' })
  assignedAgentId: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    maxLength: 140,
    description:
      'The first 140 characters of the latest message, on one line; null before the first message.',
    example: 'Your parcel is on its way.',
  })
  lastMessagePreview: string | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'null before the first message.',
    example: '2026-11-20T09:41:07.512Z',
  })
  lastMessageAt: Date | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: "The time of the customer's first message that waits for a reply; null if none does.",
    example: null,
  })
  waitingSince: Date | null;

  @ApiProperty({ example: '2026-11-20T09:38:55.000Z' })
  createdAt: Date;
}

@ApiSchema({ name: 'ContactName' })
export class ContactNameResponse {
  @ApiProperty({ example: '019ab3f2-3b4c-7d5e-8f60-718293a4b5c6' })
  id: string;

  @ApiProperty({ type: String, nullable: true, example: 'Zoë Martín' })
  name: string | null;
}

@ApiSchema({ name: 'ConversationListItem' })
export class ConversationRow extends ConversationListItem {
  @ApiPropertyOptional({
    type: ContactNameResponse,
    description: 'Only with `sort=activity` or `needsReply=true`.',
    example: { id: '019ab3f2-3b4c-7d5e-8f60-718293a4b5c6', name: 'Zoë Martín' },
  })
  contact?: ContactNameResponse;
}

/** Conversation without its contact, because an API key with write scopes alone must not read contacts. */
@ApiSchema({ name: 'Conversation' })
export class ConversationResponse extends ConversationListItem {
  @ApiProperty({ example: '2026-11-20T09:41:07.512Z' })
  updatedAt: Date;
}

export class ConversationDetail extends ConversationResponse {
  @ApiProperty()
  contact: ContactResponse;
}

export function toConversationListItem(conversation: ListedConversation): ConversationListItem {
  const { id, sourceChannel, status, assignedAgentId, lastMessagePreview, lastMessageAt, createdAt } =
    conversation;
  const { waitingMessageId } = conversation;
  return {
    id,
    sourceChannel,
    status,
    snoozedUntil: endOfSnooze(conversation),
    assignedAgentId,
    lastMessagePreview,
    lastMessageAt,
    waitingSince: waitingMessageId === null ? null : idTime(waitingMessageId),
    createdAt,
  };
}

export function toConversationRow(conversation: PositionedConversation): ConversationRow {
  const { contactId, contactName } = conversation;
  return { ...toConversationListItem(conversation), contact: { id: contactId, name: contactName } };
}

export function toConversation(conversation: ConversationEntity): ConversationResponse {
  return { ...toConversationListItem(conversation), updatedAt: conversation.updatedAt };
}
