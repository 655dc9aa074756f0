import { ApiProperty } from '@nestjs/swagger';
import {
  DELIVERY_ERROR_CODES,
  DELIVERY_STATUSES,
  type DeliveryErrorCode,
  type DeliveryStatus,
} from './message-status';

export class MessageDeliveryError {
  @ApiProperty({
    type: String,
    example: 'WINDOW_CLOSED',
    description: `${Object.keys(DELIVERY_ERROR_CODES).join(', ')}; more may come.`,
  })
  code: DeliveryErrorCode;

  @ApiProperty({
    type: String,
    nullable: true,
    example: '131047',
    description: "The channel provider's own code; null where it gave none.",
  })
  providerCode: string | null;

  @ApiProperty({ example: 'Re-engagement message' })
  message: string;
}

/** Progress of a message on its way to the customer. Both fields are null for a customer's own message. */
export class MessageDelivery {
  @ApiProperty({
    type: String,
    enum: DELIVERY_STATUSES,
    nullable: true,
    example: 'QUEUED',
    description:
      'It only advances. UNKNOWN: the provider did not say whether it accepted the message, which is not sent again. More may come.',
  })
  status: DeliveryStatus | null;

  @ApiProperty({
    type: MessageDeliveryError,
    nullable: true,
    example: null,
    description: 'Why it is FAILED, UNKNOWN, or retried (SENDING).',
  })
  error: MessageDeliveryError | null;
}
