import { isUtf8 } from 'node:buffer';
import { Transform } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  ArrayUnique,
  IsIn,
  IsOptional,
  IsString,
  Matches,
} from 'class-validator';
import type { ErrorCode } from '../../common/app-error';
import { PageQuery } from '../../common/page';
import { IsMoment } from '../../common/validators';
import { ATTEMPT_ERRORS, type AttemptError, type AttemptPhases } from '../sending/attempt-outcome';
import { DeliveryFilter, StatusCodes } from './delivery-filter';
import { DeliveryRow, WebhookDeliveryStatus } from './delivery-row';
import { AttemptRow } from '../deliveries/delivery-history.repository';
import { createdAtOf } from '../deliveries/delivery-id';

const STATUSES = ['pending', 'succeeded', 'exhausted', 'cancelled'] as const;
export type DeliveryStatusName = (typeof STATUSES)[number];

/**
 * Filters a list of deliveries. A delivery must pass every filter that is given. Those by HTTP status and error are about
 * the last attempt of its latest round.
 */
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

  /** Of the receiver's answer: one, such as `404`, or a class, such as `4xx`. */
  @IsOptional()
  @Transform(({ value }) => (typeof value === 'number' ? String(value) : value) as unknown)
  @Matches(/^[2-5](\d\d|xx)$/, { message: 'must be an HTTP status from 200 to 599, or a class such as 4xx' })
  statusCode?: string;

  /** The class of the failure. */
  @IsOptional()
  @IsIn(ATTEMPT_ERRORS)
  error?: AttemptError;

  /** Its event is about this conversation. */
  @IsOptional()
  @IsString()
  conversationId?: string;

  /** Its event is that of this message. */
  @IsOptional()
  @IsString()
  messageId?: string;

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
  response: ReceivedBody | null;
  /** `name: value`, a line each, cut after 2 KiB; null without a response, and for a success that is no test. */
  responseHeaders: string | null;
}

export interface ReceivedBody {
  encoding: 'utf8' | 'base64';
  body: string;
}

/** What is sent for a delivery. */
export interface WebhookDeliveryRequest {
  method: 'POST';
  url: string;
  /** In their order. Those of the signatures have no value here: null. */
  headers: { name: string; value: string | null }[];
  /** As in the last attempt, or as it would be now: only `deliveredAt` differs from one attempt to another. */
  body: string;
}

const MAX_REDELIVERED = 200;

/** Deliveries to be delivered again. */
export class RedeliverDeliveries {
  @IsString({ each: true })
  @ArrayUnique({ message: 'must not name a delivery twice' })
  @ArrayNotEmpty({ message: 'must name at least one delivery' })
  @ArrayMaxSize(MAX_REDELIVERED, { message: `must name at most ${MAX_REDELIVERED} deliveries` })
  ids: string[];
}

export interface RedeliveryResult {
  id: string;
  /** Why it is not delivered again; null when it is. */
  error: { code: ErrorCode; message: string } | null;
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

/** A delivery with the details of its attempts, and what is sent. */
export interface WebhookDeliveryDetail extends WebhookDeliverySummary<WebhookAttemptDetail> {
  /** Null when its event or its endpoint is no longer kept. */
  request: WebhookDeliveryRequest | null;
}

/** The outcome of the Test button. */
export interface WebhookTestResult {
  /** The receiver's HTTP status; null without a response. */
  status: number | null;
  /** Milliseconds. */
  elapsedMs: number;
  /** Why it failed; null for a success. */
  error: string | null;
  /** In milliseconds; those that set up a connection are null when the test reused one. */
  phases: AttemptPhases;
  /** The first 16 KiB of the response body; null without a response. */
  response: ReceivedBody | null;
  /** `name: value`, a line each, cut after 2 KiB; null without a response. */
  responseHeaders: string | null;
}

/** The filter that a query asks for. */
export function toFilter({
  status,
  statusCode,
  limit: _,
  ...filter
}: Partial<ListWebhookDeliveriesQuery>): DeliveryFilter {
  return {
    ...filter,
    ...(status && { statuses: [status.toUpperCase() as WebhookDeliveryStatus] }),
    ...(statusCode && { statusCodes: toStatusCodes(statusCode) }),
  };
}

function toStatusCodes(code: string): StatusCodes {
  return { from: Number(code.replace('xx', '00')), to: Number(code.replace('xx', '99')) };
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
  const { errorMessage, lookupMs, connectMs, tlsMs, firstByteMs, response, responseHeaders } = attempt;
  return {
    ...toAttemptSummary(attempt),
    errorMessage,
    phases: { lookupMs, connectMs, tlsMs, firstByteMs },
    response: response && toReadable(response),
    responseHeaders,
  };
}

export function toReadable(bytes: Buffer): ReceivedBody {
  const encoding = isUtf8(bytes) ? 'utf8' : 'base64';
  return { encoding, body: bytes.toString(encoding) };
}
