import { readDelivery, type WebhookDelivery } from './delivery.ts';
import type { WebhookEvent } from './event.ts';
import type { WebhookHeaders } from './headers.ts';
import { requireSecrets } from './signatures.ts';
import { verify, WebhookVerificationError } from './verify.ts';

/** Your function that handles an event. If it throws, the service sends the webhook again. */
export type EventHandler = (event: WebhookEvent, delivery: WebhookDelivery) => unknown;

/**
 * Your store of the ids of handled deliveries. It must outlive the process: use a table with a unique key, or
 * Redis. During development a `Set` is enough. You may delete an id after 30 days.
 */
export interface HandledDeliveries {
  has(id: string): boolean | Promise<boolean>;
  /** Stores an id. Called after `onEvent` has succeeded, so that no event is lost if the process dies. */
  add(id: string): unknown;
}

/** Settings of a webhook handler. */
export interface HandlerOptions {
  /** Maximum age in seconds of a webhook that the handler accepts; 300 by default. */
  toleranceSeconds?: number;
  /** Store of handled deliveries. A repeated delivery is answered with 204 without calling `onEvent`. */
  handled?: HandledDeliveries;
  /** Function that receives test events. Without it, the handler only answers them with 204. */
  onTest?: EventHandler;
  /** Function that receives errors of `onEvent` and of reading bodies; `console.error` by default. */
  onError?: (error: unknown) => void;
}

export interface WebhookAnswer {
  status: number;
  /** Body of the response. The endpoint's owner sees it in the log of deliveries. */
  text: string;
}

const MAX_BODY_BYTES = 1024 * 1024;

/** Verifies webhooks and calls the functions that handle their events. Works with any HTTP framework. */
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

  /** Verifies and handles a webhook, and returns the response to send. */
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

/** Reads a whole body. Throws if it is larger than 1 MiB, because the sender is not verified yet. */
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
