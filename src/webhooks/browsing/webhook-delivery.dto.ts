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
import type { ErrorCode, ErrorReason } from '../../common/app-error';
import { CodedFault, readFault, validatorFault } from '../../common/error-texts';
import { idTime } from '../../common/ids';
import { PageQuery } from '../../common/page';
import { IsMoment, IsStorableText } from '../../common/validators';
import {
  ATTEMPT_ERRORS,
  type AttemptError,
  type AttemptOutcome,
  type AttemptPhases,
} from '../sending/attempt-outcome';
import { DeliveryFilter, StatusCodes } from './delivery-filter';
import { DeliveryRow, WebhookDeliveryStatus } from './delivery-row';
import { AttemptRow } from '../deliveries/delivery-history.repository';
import { ReceivedBody, toReadable } from '../sending/readable-body';

const STATUSES = ['pending', 'succeeded', 'exhausted', 'cancelled'] as const;
type DeliveryStatusName = (typeof STATUSES)[number];

/**
 * Filter of a list of deliveries. A delivery must pass every given filter. `statusCode` and `error` are
 * compared with the last attempt, if it was made since the latest redelivery.
 */
export class ListWebhookDeliveriesQuery extends PageQuery {
  @IsOptional()
  @IsStorableText()
  endpointId?: string;

  @IsOptional()
  @IsStorableText()
  event?: string;

  @IsOptional()
  @IsIn(STATUSES)
  status?: DeliveryStatusName;

  /** HTTP status of the receiver's answer, such as `404`, or a class, such as `4xx`. */
  @IsOptional()
  @Transform(({ value }) => (typeof value === 'number' ? String(value) : value) as unknown)
  @Matches(/^[2-5](\d\d|xx)$/, validatorFault('not_status_code'))
  statusCode?: string;

  @IsOptional()
  @IsIn(ATTEMPT_ERRORS)
  error?: AttemptError;

  @IsOptional()
  @IsStorableText()
  conversationId?: string;

  /** Id of the message that the event reports. */
  @IsOptional()
  @IsStorableText()
  messageId?: string;

  /** Earliest time of creation, inclusive. */
  @IsOptional()
  @IsMoment()
  since?: Date;

  /** Time before which the delivery was created. */
  @IsOptional()
  @IsMoment()
  until?: Date;
}

export type WebhookAttemptSummary = Pick<AttemptOutcome, 'at' | 'statusCode' | 'durationMs' | 'error'>;

export interface WebhookAttemptDetail extends WebhookAttemptSummary {
  errorMessage: string | null;
  /** Code and values of `errorMessage`, for its text in another language; null if the message has no code. */
  fault: CodedFault | null;
  phases: AttemptPhases;
  response: ReceivedBody | null;
  /**
   * Response headers, one `name: value` a line, cut after 2 KiB, without cookies, tokens and the like; null
   * without a response, and for a success that is no test.
   */
  responseHeaders: string | null;
}

export interface WebhookDeliveryRequest {
  method: 'POST';
  url: string;
  /** Headers in the order in which they are sent. The value of a signature header is null. */
  headers: { name: string; value: string | null }[];
  /** Body of the last attempt, or else of a first attempt now, without the context, which is not stored. */
  body: string;
}

const MAX_REDELIVERED = 200;

export class RedeliverDeliveries {
  @IsString({ each: true })
  @ArrayUnique({ message: 'must not name a delivery twice' })
  @ArrayNotEmpty({ message: 'must name at least one delivery' })
  @ArrayMaxSize(MAX_REDELIVERED, { message: `must name at most ${MAX_REDELIVERED} deliveries` })
  ids: string[];
}

export interface RedeliveryResult {
  id: string;
  /** Reason why the redelivery was refused; null if the delivery is sent again. */
  error: ({ code: ErrorCode; message: string } & Partial<ErrorReason>) | null;
}

/**
 * Subject of a delivery's event. It is read each time it is shown, and never stored, so that an erasure of
 * its data is complete. A part is null if the event does not have it, or has been deleted.
 */
export interface WebhookDeliverySubject {
  conversationId: string | null;
  contactId: string | null;
  contactName: string | null;
  /** First 140 characters of the message, the new status of the conversation, or the audited action. */
  text: string | null;
}

export interface WebhookDeliverySummary<Attempt = WebhookAttemptSummary> {
  id: string;
  endpointId: string;
  eventId: string;
  event: string;
  subject: WebhookDeliverySubject;
  status: DeliveryStatusName;
  createdAt: Date;
  /** Time of the next attempt; null while an attempt is under way, and for a finished delivery. */
  nextAttemptAt: Date | null;
  /** Attempts of the delivery and of its redeliveries, oldest first. */
  attempts: Attempt[];
}

export interface WebhookDeliveryDetail extends WebhookDeliverySummary<WebhookAttemptDetail> {
  /** Request of the delivery; null when its event or its endpoint has been deleted. */
  request: WebhookDeliveryRequest | null;
}

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
  subject: WebhookDeliverySubject,
  attempts: AttemptRow[],
  toAttempt: (attempt: AttemptRow) => Attempt,
): WebhookDeliverySummary<Attempt> {
  const { id, endpointId, eventId, eventType, status, nextAttemptAt } = delivery;
  return {
    id,
    endpointId,
    eventId,
    event: eventType,
    subject,
    status: status.toLowerCase() as DeliveryStatusName,
    createdAt: idTime(id),
    nextAttemptAt,
    attempts: attempts.filter(({ deliveryId }) => deliveryId === id).map(toAttempt),
  };
}

export function toAttemptSummary(attempt: AttemptRow): WebhookAttemptSummary {
  const { attemptedAt, statusCode, durationMs, error } = attempt;
  return { at: attemptedAt, statusCode, durationMs, error };
}

export async function toAttemptDetail(attempt: AttemptRow): Promise<WebhookAttemptDetail> {
  const { errorMessage, lookupMs, connectMs, tlsMs, firstByteMs, response, responseHeaders } = attempt;
  return {
    ...toAttemptSummary(attempt),
    errorMessage,
    fault: errorMessage === null ? null : readFault(errorMessage),
    phases: { lookupMs, connectMs, tlsMs, firstByteMs },
    response: response && (await toReadable(response, responseHeaders)),
    responseHeaders,
  };
}
