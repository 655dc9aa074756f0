import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { WebhookTestResult } from '../browsing/webhook-delivery.dto';

/** Outcome of a test. */
@ApiSchema({ name: 'WebhookTest' })
export class WebhookTestResponse {
  @ApiProperty({
    example: '019ab3f7-2e1d-7a66-9c3b-7f8091a2b3c4',
    description: 'The delivery of the test: its `x-service-delivery`.',
  })
  deliveryId: string;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    example: 200,
    description: "The HTTP status of the receiver's answer; null without one.",
  })
  status: number | null;

  @ApiProperty({ type: 'integer', example: 84, description: 'How long it took, in milliseconds.' })
  elapsedMs: number;

  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'Why it failed; null for a success, which is any status from 200 to 299.',
  })
  error: string | null;
}

export function toTestResponse({
  deliveryId,
  status,
  elapsedMs,
  error,
}: WebhookTestResult): WebhookTestResponse {
  return { deliveryId, status, elapsedMs, error };
}
