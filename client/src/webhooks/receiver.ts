import { readDelivery, type WebhookDelivery } from './delivery.ts';
import type { WebhookEvent } from './event.ts';
import type { WebhookHeaders } from './headers.ts';
import { requireSecrets } from './signatures.ts';
import { verify, WebhookVerificationError } from './verify.ts';

/** Function of the user that handles an event. The webhook is sent again if it throws. */
export type EventHandler = (event: WebhookEvent, delivery: WebhookDelivery) => unknown;

/**
 * Ids of deliveries that were handled, in a place of the user's that outlives the process: a table with a
 * unique key, or a key in Redis. A `Set` does while developing. An id may be forgotten after 30 days.
 */
export interface HandledDeliveries {
  has(id: string): boolean | Promise<boolean>;
  /** Is called once the event was handled, so that none is lost when the process dies. */
  add(id: string): unknown;
}

/** Settings of a handler. */
export interface HandlerOptions {
  /** Age in seconds up to which a webhook is taken: 300 unless given. */
  toleranceSeconds?: number;
  /** Deliveries that were handled. One of them is answered, and not handled again. */
  handled?: HandledDeliveries;
  /** Function that gets tests of the endpoint. Without it, they are answered alone. */
  onTest?: EventHandler;
  /** Function that is told why a webhook was not handled: `console.error` unless given. */
  onError?: (error: unknown) => void;
}

/** Answer to a webhook. */
export interface WebhookAnswer {
  status: number;
  /** Text that the endpoint's owner sees beside the delivery. */
  text: string;
}

const MAX_BODY_BYTES = 1024 * 1024;

/** Takes webhooks in, whatever framework they come through. */
export class WebhookReceiver {
  readonly #secrets: string | readonly string[];
  readonly #onEvent: EventHandler;
  readonly #options: HandlerOptions;

  /** @throws TypeError a secret is malformed */
  constructor(secrets: string | readonly string[], onEvent: EventHandler, options: HandlerOptions) {
    requireSecrets(Array.isArray(secrets) ? secrets : [secrets]);
    this.#secrets = secrets;
    this.#onEvent = onEvent;
    this.#options = options;
  }

  /**
   * Verifies and handles a webhook, and returns the answer to it.
   * @param readBody reads the raw body
   */
  async receive(
    method: string | undefined,
    headers: WebhookHeaders,
    readBody: () => Promise<string | Uint8Array>,
  ): Promise<WebhookAnswer> {
    if (method !== 'POST') return { status: 405, text: 'Webhooks are sent by POST.' };
    try {
      await this.#handle(await readBody(), headers);
      return { status: 204, text: '' };
    } catch (error) {
      if (error instanceof WebhookVerificationError) return { status: 401, text: error.message };
      if (error instanceof BodyTooLarge) return { status: 413, text: 'The body is too large.' };
      (this.#options.onError ?? console.error)(error);
      return { status: 500, text: 'The event was not handled.' };
    }
  }

  async #handle(rawBody: string | Uint8Array, headers: WebhookHeaders): Promise<void> {
    const { toleranceSeconds, handled, onTest } = this.#options;
    const event = await verify(rawBody, headers, this.#secrets, { toleranceSeconds });
    const delivery = readDelivery(headers, event.event);
    if (delivery.isTest) return void (await onTest?.(event, delivery));
    if (await handled?.has(delivery.id)) return;
    await this.#onEvent(event, delivery);
    await handled?.add(delivery.id);
  }
}

class BodyTooLarge extends Error {}

/** Reads a body whole, up to 1 MiB: anybody may send one. */
export async function readBytes(chunks: AsyncIterable<Uint8Array | string>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const part = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk;
    length += part.length;
    if (length > MAX_BODY_BYTES) throw new BodyTooLarge();
    parts.push(part);
  }
  const body = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    body.set(part, offset);
    offset += part.length;
  }
  return body;
}
