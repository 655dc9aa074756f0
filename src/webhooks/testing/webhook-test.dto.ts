import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { IsIn, IsObject, IsOptional } from 'class-validator';
import type { CodedFault } from '../../common/error-texts';
import { IsOpaque } from '../../common/validators';
import { eventCatalog, type EventType, isTest } from '../../outbox/event-catalog';
import type { AttemptPhases } from '../sending/attempt-outcome';
import type { ReceivedBody } from '../sending/readable-body';

const FACTS = (Object.keys(eventCatalog) as EventType[]).filter((type) => !isTest(type));

/** Event type whose example a test sends. */
export class SendExample {
  @IsIn(FACTS)
  event: EventType;

  /** `data` that is sent; by default that of the catalog's example. */
  @IsOptional()
  @IsOpaque()
  @IsObject()
  data?: object;
}

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

/** Outcome of a test, with all that is known of its attempt. */
export interface WebhookTestResult extends WebhookTestResponse {
  /** Code and values of `error`, for its text in another language; null if the reason has no code. */
  fault: CodedFault | null;
  phases: AttemptPhases;
  /** First 16 KiB of the response body; null without a response. */
  response: ReceivedBody | null;
  /** Response headers, one `name: value` a line, cut after 2 KiB; null without a response. */
  responseHeaders: string | null;
}

export function toTestResponse({
  deliveryId,
  status,
  elapsedMs,
  error,
}: WebhookTestResult): WebhookTestResponse {
  return { deliveryId, status, elapsedMs, error };
}
