import { MessagingError } from '../errors.ts';
import type { WebhookEvent } from './event.ts';
import { readHeader, type WebhookHeaders } from './headers.ts';
import { isServiceSignature, isStandardSignature, requireSecrets } from './signatures.ts';

const DEFAULT_TOLERANCE_SECONDS = 300;

/**
 * Reason why a webhook is refused.
 *
 * - `NO_SIGNATURE`: a header with the signature, the delivery's id or the time stamp is missing.
 * - `WRONG_SIGNATURE`: no secret made the signature. The webhook is not from the service, or was changed on
 *   its way.
 * - `WRONG_TIME`: the webhook was signed too long ago, or in the future. An attacker may have recorded it.
 * - `NO_EVENT`: the signature is right, but the body is not an event.
 */
export type WebhookFault = 'NO_SIGNATURE' | 'WRONG_SIGNATURE' | 'WRONG_TIME' | 'NO_EVENT';

/** The webhook is refused: respond with 401, and do not handle the event. */
export class WebhookVerificationError extends MessagingError {
  override name = 'WebhookVerificationError';

  constructor(
    readonly code: WebhookFault,
    message: string,
  ) {
    super(message);
  }
}

/** Settings of a verification. */
export interface VerifyOptions {
  /**
   * Maximum age in seconds of a webhook that is accepted; 300 by default. Pass `Infinity` to verify a stored
   * webhook.
   */
  toleranceSeconds?: number;
  /** Time at which the age is measured; now by default. */
  now?: Date;
}

/**
 * Verifies that a webhook is from the service, unchanged and recent, and returns its event.
 *
 * If `webhook-signature` is present, only the headers of Standard Webhooks are verified, and the signed time
 * is `webhook-timestamp`. Otherwise `x-service-signature` is verified, and the signed time is `deliveredAt`
 * in the body.
 *
 * @param rawBody the request's body as it arrived, before any parser
 * @param secrets the endpoint's secret, `whsec_…`, or the new and the previous one while the service signs
 *   with both
 * @throws WebhookVerificationError the webhook must be refused
 * @throws TypeError `rawBody` is neither text nor bytes, or a secret is malformed
 */
export async function verify(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, now = new Date() }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const body = bytesOf(rawBody);
  const known: readonly unknown[] = Array.isArray(secrets) ? secrets : [secrets];
  requireSecrets(known);

  const standard = readHeader(headers, 'webhook-signature');
  const own = readHeader(headers, 'x-service-signature');
  const id = readHeader(headers, 'webhook-id');
  const timestamp = readHeader(headers, 'webhook-timestamp');
  let isGenuine: boolean;
  if (standard !== undefined) {
    if (!id || !timestamp)
      throw new WebhookVerificationError('NO_SIGNATURE', 'webhook-id or webhook-timestamp is missing.');
    isGenuine = await isStandardSignature(standard, known, concat(`${id}.${timestamp}.`, body));
  } else if (own !== undefined) {
    isGenuine = await isServiceSignature(own, known, body);
  } else {
    throw new WebhookVerificationError(
      'NO_SIGNATURE',
      'webhook-signature and x-service-signature are missing.',
    );
  }
  if (!isGenuine) throw new WebhookVerificationError('WRONG_SIGNATURE', 'No secret made the signature.');

  const event = parseEvent(body);
  const signedAt = standard === undefined ? Date.parse(event.deliveredAt) / 1_000 : Number(timestamp);
  // An invalid time is NaN. Comparisons with NaN are false, so the webhook is refused.
  if (!(Math.abs(now.getTime() / 1_000 - signedAt) <= toleranceSeconds))
    throw new WebhookVerificationError(
      'WRONG_TIME',
      'The webhook was signed too long ago, or in the future.',
    );
  return event;
}

function parseEvent(body: Uint8Array): WebhookEvent {
  const text = new TextDecoder().decode(body);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  const { event, deliveredAt, data } = Object(value) as Record<string, unknown>;
  if (
    typeof event !== 'string' ||
    typeof deliveredAt !== 'string' ||
    typeof data !== 'object' ||
    data === null
  )
    throw new WebhookVerificationError('NO_EVENT', 'The body is genuine, and no event.');
  return value as WebhookEvent;
}

function bytesOf(rawBody: unknown): Uint8Array<ArrayBuffer> {
  if (typeof rawBody === 'string') return new TextEncoder().encode(rawBody);
  if (rawBody instanceof ArrayBuffer) return new Uint8Array(rawBody);
  if (ArrayBuffer.isView(rawBody))
    return new Uint8Array(rawBody.buffer as ArrayBuffer, rawBody.byteOffset, rawBody.byteLength);
  throw new TypeError(
    'The body must be the raw bytes or text of the request, as they came before any parser.',
  );
}

function concat(head: string, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const headBytes = new TextEncoder().encode(head);
  const whole = new Uint8Array(headBytes.length + tail.length);
  whole.set(headBytes);
  whole.set(tail, headBytes.length);
  return whole;
}
