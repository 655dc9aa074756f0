import { isUtf8 } from 'node:buffer';
import { Type } from 'class-transformer';
import { IsDate, IsIn, IsOptional, IsString } from 'class-validator';
import { PageQuery } from '../../common/page';
import type { AttemptError, AttemptPhases } from '../sending/attempt-outcome';
import { WebhookAttemptEntity } from './webhook-attempt.entity';
import { WebhookDeliveryEntity } from './webhook-delivery.entity';

const STATUSES = ['pending', 'succeeded', 'exhausted', 'cancelled'] as const;
export type DeliveryStatusName = (typeof STATUSES)[number];

/** Which of a workspace's deliveries a list shows. */
export class ListWebhookDeliveriesQuery extends PageQuery {
  @IsOptional()
  @IsString()
  endpointId?: string;

  @IsOptional()
  @IsString()
  event?: string;

  @IsOptional()
  @IsIn(STATUSES)
  status?: DeliveryStatusName;

  /** Only those of this moment and later. */
  @IsOptional()
  @IsDate({ message: 'must be an ISO 8601 date' })
  @Type(() => Date)
  since?: Date;

  /** Only those before this moment. */
  @IsOptional()
  @IsDate({ message: 'must be an ISO 8601 date' })
  @Type(() => Date)
  until?: Date;
}

/** One POST that was made. */
export interface WebhookAttemptSummary {
  at: Date;
  /** The receiver's HTTP status, or null if it gave none. */
  statusCode: number | null;
  durationMs: number;
  /** The class of the failure, or null for a success. */
  error: AttemptError | null;
}

/** One POST that was made, with all that is known of it. */
export interface WebhookAttemptDetail extends WebhookAttemptSummary {
  errorMessage: string | null;
  /** Milliseconds; those of setting up a connection are null where a kept one was used. */
  phases: AttemptPhases;
  /** The first 16 KiB of the answer's body: as text where it is UTF-8, else in base64. */
  response: { encoding: 'utf8' | 'base64'; body: string } | null;
}

/** How an endpoint fares. */
export interface WebhookEndpointHealth {
  active: boolean;
  /** The first failure since the last success; null while all is well. */
  failingSince: Date | null;
  /** True to the minute. */
  lastSuccessAt: Date | null;
  /** The deliveries of the last 24 hours by what has come of them. */
  last24Hours: Record<DeliveryStatusName, number>;
}

/** One event owed to one endpoint, and what was tried. */
export interface WebhookDeliverySummary<Attempt = WebhookAttemptSummary> {
  id: string;
  endpointId: string;
  eventId: string;
  event: string;
  status: DeliveryStatusName;
  createdAt: Date;
  /** When it is tried next; null once it is finished. */
  nextAttemptAt: Date | null;
  /** Oldest first. */
  attempts: Attempt[];
}

/** What a press of the Test button found. */
export interface WebhookTestResult {
  /** The receiver's HTTP status, or null if it gave none. */
  status: number | null;
  /** Milliseconds from the attempt's start to its end. */
  elapsedMs: number;
  /** Why it failed, or null when it succeeded. */
  error: string | null;
}

export function toDeliverySummary<Attempt>(
  delivery: WebhookDeliveryEntity,
  attempts: WebhookAttemptEntity[],
  toAttempt: (attempt: WebhookAttemptEntity) => Attempt,
): WebhookDeliverySummary<Attempt> {
  const { id, endpointId, eventId, eventType, status, createdAt, nextAttemptAt } = delivery;
  return {
    id,
    endpointId,
    eventId,
    event: eventType,
    status: status.toLowerCase() as DeliveryStatusName,
    createdAt,
    nextAttemptAt: status === 'PENDING' ? nextAttemptAt : null,
    attempts: attempts.filter(({ deliveryId }) => deliveryId === id).map(toAttempt),
  };
}

export function toAttemptSummary(attempt: WebhookAttemptEntity): WebhookAttemptSummary {
  const { attemptedAt, statusCode, durationMs, error } = attempt;
  return { at: attemptedAt, statusCode, durationMs, error };
}

export function toAttemptDetail(attempt: WebhookAttemptEntity): WebhookAttemptDetail {
  const { errorMessage, lookupMs, connectMs, tlsMs, firstByteMs, response } = attempt;
  return {
    ...toAttemptSummary(attempt),
    errorMessage,
    phases: { lookupMs, connectMs, tlsMs, firstByteMs },
    response: response && toReadable(response),
  };
}

function toReadable(bytes: Buffer): { encoding: 'utf8' | 'base64'; body: string } {
  const encoding = isUtf8(bytes) ? 'utf8' : 'base64';
  return { encoding, body: bytes.toString(encoding) };
}
