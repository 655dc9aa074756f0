import { ApiProperty, ApiSchema, OmitType } from '@nestjs/swagger';
import { AttachmentResponse, toAttachment } from '../../attachments/attachment.dto';
import { AttachmentEntity } from '../../attachments/attachment.entity';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../../common/message-status';
import { type SenderType } from '../../messages/message.entity';
import { ADDRESS_STATES, type AddressState } from '../../notices/answers/answer-addresses.repository';
import { readClientMessageId, VisitorMessageRow } from './visitor-messages.repository';

@ApiSchema({ name: 'Session' })
export class SessionResponse {
  @ApiProperty({
    example: 'eyJhbGciOiJIUzI1NiIsImtpZCI6ImZpcnN0In0.eyJhdWQiOiIwMTlhYjNmMCJ9.c2lnbmF0dXJl',
    description: 'For the `Authorization` header of every other request, as `Bearer …`.',
  })
  token: string;

  @ApiProperty({
    example: '2026-11-21T09:41:07.000Z',
    description: '24 hours from now. Then only `POST …/sessions` takes the token.',
  })
  expiresAt: Date;

  @ApiProperty({
    example: '2027-02-18T09:41:07.000Z',
    description:
      'Until then the token renews the session: 90 days from now for an anonymous visitor, `expiresAt` for a logged-in one.',
  })
  renewableUntil: Date;

  @ApiProperty({
    type: String,
    nullable: true,
    example: '019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11',
    description: 'null before the first message.',
  })
  conversationId: string | null;
}

@ApiSchema({ name: 'AnswerAddressState' })
export class AnswerAddressResponse {
  @ApiProperty({
    enum: ADDRESS_STATES,
    example: 'NONE',
    description:
      'GIVEN: `POST …/answer-address` was called. KNOWN: the contact has an address, and the language is not known. NONE: there is none. OFF: no answers are mailed.',
  })
  address: AddressState;
}

export class VisitorMessageDelivery {
  @ApiProperty({ type: String, enum: DELIVERY_STATUSES, nullable: true, example: 'SENT' })
  status: DeliveryStatus | null;
}

/** Attachment as the visitor sees it. The bytes are at `/attachments/{id}/content`, if its state is READY. */
@ApiSchema({ name: 'VisitorAttachment' })
export class VisitorAttachmentResponse extends OmitType(AttachmentResponse, [
  'problem',
  'url',
  'renditionUrl',
  'delivery',
]) {}

/** Message as its visitor sees it: without the agent's id and without the cause of a failure. */
@ApiSchema({ name: 'VisitorMessage' })
export class VisitorMessageResponse {
  @ApiProperty({ example: '019ab3f6-0d4b-7c55-8a2e-6f1f7d1b2c90' })
  id: string;

  @ApiProperty({ type: String, example: 'AGENT', description: 'CUSTOMER or AGENT; more may come.' })
  senderType: SenderType;

  @ApiProperty({
    type: String,
    nullable: true,
    example: 'Ada',
    description: "The agent's display name; null if the agent has none, and for the visitor's own messages.",
  })
  senderName: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: "Of the visitor's own messages. null for an agent's, and after the message was erased.",
  })
  clientMessageId: string | null;

  @ApiProperty({
    example: 'Yes, within three days.',
    description: 'The present text. Empty after the message was erased, or taken back.',
  })
  body: string;

  @ApiProperty({ example: false, description: 'Whether `body` only describes the attachments.' })
  isDescribed: boolean;

  @ApiProperty({ type: [VisitorAttachmentResponse], description: 'In the order in which they were sent.' })
  attachments: VisitorAttachmentResponse[];

  @ApiProperty({ example: '2026-11-20T09:41:07.512Z' })
  createdAt: Date;

  @ApiProperty()
  delivery: VisitorMessageDelivery;

  @ApiProperty({ type: Date, nullable: true, example: null, description: 'Last edit; null if never.' })
  editedAt: Date | null;

  @ApiProperty({ type: Date, nullable: true, example: null, description: 'When it was taken back.' })
  unsentAt: Date | null;
}

@ApiSchema({ name: 'PostedMessage' })
export class PostedMessageResponse {
  @ApiProperty()
  message: VisitorMessageResponse;
}

export function toVisitorMessage(
  message: VisitorMessageRow,
  attached: AttachmentEntity[] = [],
): VisitorMessageResponse {
  const { id, senderType, senderName, providerId, body, isDescribed, createdAt, deliveryStatus } = message;
  const { editedAt, unsentAt } = message;
  const clientMessageId = readClientMessageId(providerId);
  return {
    id,
    senderType,
    senderName,
    clientMessageId,
    body,
    isDescribed,
    attachments: attached.map(toVisitorAttachment),
    createdAt,
    delivery: { status: deliveryStatus },
    editedAt,
    unsentAt,
  };
}

function toVisitorAttachment(attachment: AttachmentEntity): VisitorAttachmentResponse {
  const { id, kind, state, name, contentType, size, sha256, width, height, durationMs, caption } =
    toAttachment(attachment);
  return { id, kind, state, name, contentType, size, sha256, width, height, durationMs, caption };
}

@ApiSchema({ name: 'ReceiptResult' })
export class ReceiptResponse {
  @ApiProperty({
    example: 2,
    description: 'How many outbound messages have advanced. 0 when all had this status already.',
  })
  advanced: number;
}
