import { MessagingError } from '../errors.ts';
import type { WebhookEvent } from './event.ts';
import { readHeader, type WebhookHeaders } from './headers.ts';
import { isServiceSignature, isStandardSignature, requireSecrets } from './signatures.ts';

const DEFAULT_TOLERANCE_SECONDS = 300;

/**
 * Reason why a webhook is refused.
 *
 * - `NO_SIGNATURE`: it has no signature, or one without its id and time.
 * - `WRONG_SIGNATURE`: no secret made its signature. It is not from the service, or was changed on its way.
 * - `WRONG_TIME`: it was signed too long ago, or in the future. A stranger may have kept it.
 * - `NO_EVENT`: it is genuine, and no event.
 */
export type WebhookFault = 'NO_SIGNATURE' | 'WRONG_SIGNATURE' | 'WRONG_TIME' | 'NO_EVENT';

/** Refusal of a webhook: answer it with 401, and do nothing. */
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
  /** Age in seconds up to which a webhook is taken: 300 unless given; `Infinity` for those that were kept. */
  toleranceSeconds?: number;
  /** Time that the age is reckoned to: now unless given. */
  now?: Date;
}

/**
 * Verifies that a webhook comes from the service, unchanged and fresh, and returns its event.
 *
 * The headers of Standard Webhooks are verified if they are there, and `x-service-signature` otherwise. The
 * time is that of `webhook-timestamp`, or the body's `deliveredAt`: both are signed.
 *
 * @param rawBody the body as it came, before any parser
 * @param secrets the endpoint's secret, `whsec_…`; two while it is rolled
 * @throws WebhookVerificationError the webhook is to be refused
 * @throws TypeError the body is parsed, or a secret is none
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
  // NaN compares as false.
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
