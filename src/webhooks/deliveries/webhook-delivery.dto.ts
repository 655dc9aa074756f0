import { isUtf8 } from 'node:buffer';
import { IsIn, IsOptional, IsString } from 'class-validator';
import { PageQuery } from '../../common/page';
import { IsMoment } from '../../common/validators';
import type { AttemptError, AttemptPhases } from '../sending/attempt-outcome';
import { DeliveryRow } from './delivery-filter';
import { AttemptRow } from './delivery-history.repository';
import { createdAtOf } from './delivery-id';

const STATUSES = ['pending', 'succeeded', 'exhausted', 'cancelled'] as const;
export type DeliveryStatusName = (typeof STATUSES)[number];

/** Filters a list of deliveries. */
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

  /** Created at this time or later. */
  @IsOptional()
  @IsMoment()
  since?: Date;

  /** Created before this time. */
  @IsOptional()
  @IsMoment()
  until?: Date;
}

/** One POST. */
export interface WebhookAttemptSummary {
  at: Date;
  /** The receiver's HTTP status; null without a response. */
  statusCode: number | null;
  durationMs: number;
  /** The class of the failure; null for a success. */
  error: AttemptError | null;
}

/** One POST with its details. */
export interface WebhookAttemptDetail extends WebhookAttemptSummary {
  errorMessage: string | null;
  /** In milliseconds; those that set up a connection are null when the attempt reused one. */
  phases: AttemptPhases;
  /** The first 16 KiB of the response body: as text if it is UTF-8, else in base64. */
  response: { encoding: 'utf8' | 'base64'; body: string } | null;
}

/** An endpoint's health. */
export interface WebhookEndpointHealth {
  active: boolean;
  /** The first failure since the last success; null without one. */
  failingSince: Date | null;
  /** To the minute. */
  lastSuccessAt: Date | null;
  /** The number of deliveries of the last 24 hours, by status. */
  last24Hours: Record<DeliveryStatusName, number>;
  /** What a former activation was owed and is being cancelled in the background: how many so far; null when done. */
  cancelling: { cancelled: number } | null;
}

/** One event for one endpoint, with its attempts. */
export interface WebhookDeliverySummary<Attempt = WebhookAttemptSummary> {
  id: string;
  endpointId: string;
  eventId: string;
  event: string;
  status: DeliveryStatusName;
  /** When its event was made. */
  createdAt: Date;
  /** Null while an attempt is under way, and once it is finished. */
  nextAttemptAt: Date | null;
  /** Oldest first. */
  attempts: Attempt[];
}

/** The outcome of the Test button. */
export interface WebhookTestResult {
  /** The receiver's HTTP status; null without a response. */
  status: number | null;
  /** Milliseconds. */
  elapsedMs: number;
  /** Why it failed; null for a success. */
  error: string | null;
}

export function toDeliverySummary<Attempt>(
  delivery: DeliveryRow,
  attempts: AttemptRow[],
  toAttempt: (attempt: AttemptRow) => Attempt,
): WebhookDeliverySummary<Attempt> {
  const { id, endpointId, eventId, eventType, status, nextAttemptAt } = delivery;
  return {
    id,
    endpointId,
    eventId,
    event: eventType,
    status: status.toLowerCase() as DeliveryStatusName,
    createdAt: createdAtOf(id),
    nextAttemptAt,
    attempts: attempts.filter(({ deliveryId }) => deliveryId === id).map(toAttempt),
  };
}

export function toAttemptSummary(attempt: AttemptRow): WebhookAttemptSummary {
  const { attemptedAt, statusCode, durationMs, error } = attempt;
  return { at: attemptedAt, statusCode, durationMs, error };
}

export function toAttemptDetail(attempt: AttemptRow): WebhookAttemptDetail {
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
