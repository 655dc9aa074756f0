import { ApiProperty } from '@nestjs/swagger';
import { DELIVERY_STATUSES, type DeliveryStatus, MessageEntity, type SenderType } from './message.entity';

/** How far a message is on its way to the customer. Both are null for a customer's own message. */
export class MessageDelivery {
  @ApiProperty({
    type: String,
    enum: DELIVERY_STATUSES,
    nullable: true,
    example: 'QUEUED',
    description: 'UNKNOWN when the channel did not tell whether it took the message. More may come.',
  })
  status: DeliveryStatus | null;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    example: null,
    description: 'Why the channel refused it.',
  })
  error: object | null;
}

/** One message of a conversation. */
export class MessageResponse {
  @ApiProperty({ example: '019ab3f6-0d4b-7c55-8a2e-6f1f7d1b2c90' })
  id: string;

  @ApiProperty({ type: String, example: 'AGENT', description: 'CUSTOMER or AGENT; more may come.' })
  senderType: SenderType;

  @ApiProperty({
    type: String,
    nullable: true,
    example: '019ab3ee-1f2d-7b3c-9e4f-5a6b7c8d9e0f',
    description: "null for a customer's message.",
  })
  senderAgentId: string | null;

  @ApiProperty({ example: 'Your parcel is on its way.' })
  body: string;

  @ApiProperty({ example: '2026-11-20T09:41:07.512Z' })
  createdAt: Date;

  @ApiProperty()
  delivery: MessageDelivery;
}

/** The answer to a message sent. */
export class SentMessageResponse {
  @ApiProperty()
  message: MessageResponse;
}

export function toMessage(message: MessageEntity): MessageResponse {
  const { id, senderType, senderAgentId, body, createdAt, deliveryStatus, deliveryError } = message;
  const delivery = { status: deliveryStatus, error: deliveryError };
  return { id, senderType, senderAgentId, body, createdAt, delivery };
}
