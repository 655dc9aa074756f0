import { DeliveryStatus, MessageEntity, SenderType } from './message.entity';

/** How far a message is on its way to the customer. Both are null for a customer's own message. */
export class MessageDelivery {
  status: DeliveryStatus | null;
  error: object | null;
}

/** One message of a conversation. */
export class MessageResponse {
  id: string;
  senderType: SenderType;
  senderAgentId: string | null;
  body: string;
  createdAt: Date;
  delivery: MessageDelivery;
}

/** The answer to a message sent. */
export class SentMessageResponse {
  message: MessageResponse;
}

export function toMessage(message: MessageEntity): MessageResponse {
  const { id, senderType, senderAgentId, body, createdAt, deliveryStatus, deliveryError } = message;
  const delivery = { status: deliveryStatus, error: deliveryError };
  return { id, senderType, senderAgentId, body, createdAt, delivery };
}
