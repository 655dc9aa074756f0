import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsIn, IsOptional, IsString, IsUUID, ValidateIf, ValidateNested } from 'class-validator';
import { AttachmentResponse, AttachUpload, toAttachment } from '../attachments/attachment.dto';
import { AttachmentEntity } from '../attachments/attachment.entity';
import { MAX_FILES } from '../common/file-limits';
import { MessageDelivery } from '../common/message-delivery';
import { type Page, PageQuery } from '../common/page';
import { IsItemList, IsNullable, IsText } from '../common/validators';
import { BODY_LIMITS } from './body-limits';
import { type SenderType } from './message.entity';
import { ListedMessage } from './messages.repository';

export const MAX_BODY_CHARACTERS = 4096;

const INCLUDABLE = ['firstBody'] as const;

export class ListMessagesQuery extends PageQuery {
  @ApiPropertyOptional({
    enum: INCLUDABLE,
    description: '`firstBody`: each message with the text that it had before it was edited.',
  })
  @IsOptional()
  @IsIn(INCLUDABLE, { message: `must be ${INCLUDABLE.join(' or ')}` })
  include?: (typeof INCLUDABLE)[number];
}

/** Query for the messages older than, newer than or around a message. */
export class ListMessagesPartQuery extends PageQuery {
  /** Id of the message in the middle of the returned messages. */
  @IsOptional()
  @IsUUID('loose', { message: 'must be the id of a message' })
  around?: string;

  /** `previousCursor` of a previous response, to get the next newer messages. */
  @IsOptional()
  @IsUUID('loose', { message: 'must be the previousCursor of another part' })
  after?: string;
}

const BODY_RULES = `Not blank, valid Unicode, no NUL. Lower limits: ${BODY_LIMITS}. Never split or cut.`;

/** Reports whether a message's body has to be there and valid: if it is given, or nothing else is. */
function isBodyRequired({ body, attachments }: SendMessage): boolean {
  return body !== undefined || !attachments?.length;
}

export class ReceiveMessage {
  @ApiProperty({
    minLength: 1,
    maxLength: MAX_BODY_CHARACTERS,
    pattern: '\\S',
    description: BODY_RULES,
    example: 'Your parcel is on its way.',
  })
  @IsText(MAX_BODY_CHARACTERS)
  body: string;
}

@ApiSchema({ name: 'MessageInput' })
export class SendMessage extends ReceiveMessage {
  @ApiProperty({
    required: false,
    minLength: 1,
    maxLength: MAX_BODY_CHARACTERS,
    pattern: '\\S',
    description: `Required without attachments. ${BODY_RULES}`,
    example: 'Your parcel is on its way.',
  })
  @ValidateIf(isBodyRequired)
  declare body: string;

  @ApiPropertyOptional({
    type: [AttachUpload],
    maxItems: MAX_FILES,
    example: [],
    description:
      'Uploads for this conversation, by this key. The customer gets them after the body, in this order, each as far as the channel takes it.',
  })
  @IsOptional()
  @IsItemList(MAX_FILES)
  @ValidateNested({ each: true })
  @Type(() => AttachUpload)
  attachments?: AttachUpload[];

  @ApiPropertyOptional({
    description:
      "The sender: an active agent or bot account. By default the workspace's first active OWNER or ADMIN.",
    example: '019ab3ee-1f2d-7b3c-9e4f-5a6b7c8d9e0f',
  })
  @IsOptional()
  @IsString()
  senderAgentId?: string;
}

export class SendReply extends SendMessage {
  /**
   * Id of the newest message that the agent had seen when it began to write; null if there was none. The
   * reply is refused if another sender has answered since. If left out, this is not checked.
   */
  @IsNullable()
  @IsString()
  seenMessageId?: string | null;

  /** Id of a FAILED or UNKNOWN message of the conversation that this one repeats. No other may repeat it. */
  @IsOptional()
  @IsString()
  repeatsId?: string;
}

export class DismissMessage {
  @IsString()
  messageId: string;
}

export class MessageReaction {
  @ApiProperty({ type: String, example: 'CUSTOMER', description: 'CUSTOMER; more may come.' })
  senderType: SenderType;

  @ApiProperty({ example: '👍', description: "The emoji, or the provider's name of a reaction without one." })
  emoji: string;
}

export const SENDER_TYPE = {
  type: String,
  example: 'AGENT',
  description: 'CUSTOMER or AGENT; more may come.',
};
export const SENDER_AGENT_ID = {
  type: String,
  nullable: true,
  example: '019ab3ee-1f2d-7b3c-9e4f-5a6b7c8d9e0f',
  description: "null for a customer's message.",
};

@ApiSchema({ name: 'Message' })
export class MessageResponse {
  @ApiProperty({ example: '019ab3f6-0d4b-7c55-8a2e-6f1f7d1b2c90' })
  id: string;

  @ApiProperty(SENDER_TYPE)
  senderType: SenderType;

  @ApiProperty(SENDER_AGENT_ID)
  senderAgentId: string | null;

  @ApiProperty({
    example: 'Your parcel is on its way.',
    description:
      'The present text: an edit replaces it. Empty after the message was erased, or its customer took it back.',
  })
  body: string;

  @ApiProperty({
    example: false,
    description:
      'Whether `body` describes the attachments, such as `[image]`, instead of a text of its sender.',
  })
  isDescribed: boolean;

  @ApiProperty({ type: [AttachmentResponse], description: 'In the order in which they were sent.' })
  attachments: AttachmentResponse[];

  @ApiProperty({ example: '2026-11-20T09:41:07.512Z' })
  createdAt: Date;

  @ApiProperty()
  delivery: MessageDelivery;

  @ApiProperty({
    type: Date,
    nullable: true,
    example: null,
    description: 'When the customer last edited it; null if never.',
  })
  editedAt: Date | null;

  @ApiProperty({
    type: Date,
    nullable: true,
    example: null,
    description: 'When the customer took it back, which erased it; null if never.',
  })
  unsentAt: Date | null;

  @ApiProperty({ type: [MessageReaction], description: 'What there is now. A reaction is no message.' })
  reactions: MessageReaction[];

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    example: null,
    description:
      'With `include=firstBody`: the text before the first edit; null if it was not edited, or was erased.',
  })
  firstBody?: string | null;
}

export interface ListedPartMessage extends MessageResponse {
  /** Id of the FAILED or UNKNOWN message that this one repeats; null if it repeats none. */
  repeatsId: string | null;
  /** Whether the message was FAILED or UNKNOWN, and then was sent again or dismissed. */
  isDismissed: boolean;
  firstBody: string | null;
}

export interface MessagesPart extends Page<ListedPartMessage> {
  /** Value of `after` in a request for the next newer messages; null if the newest message is in `data`. */
  previousCursor: string | null;
}

@ApiSchema({ name: 'SentMessage' })
export class SentMessageResponse {
  @ApiProperty()
  message: MessageResponse;
}

/**
 * Sent message with the ids of its events, so that a page can ignore the events of its own changes. The
 * `message.created` event has the message's id.
 */
export interface SentReplyResponse extends SentMessageResponse {
  /** Id of the event that assigned the conversation to the agent; undefined if the reply assigned nothing. */
  assignmentEventId?: string;
}

export function toMessage(message: ListedMessage, attached: AttachmentEntity[] = []): MessageResponse {
  const { id, senderType, senderAgentId, body, isDescribed, createdAt, deliveryStatus, deliveryError } =
    message;
  const { editedAt, unsentAt } = message;
  const delivery = { status: deliveryStatus, error: deliveryError };
  const reactions = (message.reactions ?? []).map((emoji) => ({ senderType: 'CUSTOMER' as const, emoji }));
  const attachments = attached.map(toAttachment);
  return {
    id,
    senderType,
    senderAgentId,
    body,
    isDescribed,
    attachments,
    createdAt,
    delivery,
    editedAt,
    unsentAt,
    reactions,
  };
}

export function toMessageWithFirstBody(
  message: ListedMessage,
  attached: AttachmentEntity[] = [],
): MessageResponse & { firstBody: string | null } {
  return { ...toMessage(message, attached), firstBody: message.firstBody };
}

export function toPartMessage(message: ListedMessage, attached: AttachmentEntity[] = []): ListedPartMessage {
  const { repeatsId, dismissedAt } = message;
  return { ...toMessageWithFirstBody(message, attached), repeatsId, isDismissed: dismissedAt !== null };
}
