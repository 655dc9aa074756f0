import { createHmac, timingSafeEqual } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { portOf } from '../processes.mjs';

/** @import { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http' */
/** @import { EventData, EventType } from 'conversation-messaging-service' */

/**
 * The body of a webhook of one type.
 *
 * @template {EventType} Type
 * @typedef {{ event: Type, deliveredAt: string, data: EventData<Type> }} BodyOf
 */

/** @typedef {{ [Type in EventType]: BodyOf<Type> }[EventType]} Body */

/**
 * A webhook that came, and whether its signatures are right.
 *
 * @typedef {object} Delivery
 * @property {IncomingHttpHeaders} headers
 * @property {Body} body
 * @property {boolean} verified by the contract's own signature
 * @property {boolean} verifiedByLibrary by a Standard Webhooks library
 */

/**
 * An attempt that was answered 503.
 *
 * @typedef {{ id: string, event: EventType }} Refused
 */

/**
 * A workspace's https server, which checks the signature of each webhook.
 *
 * @extends {EventEmitter<{ delivery: [Delivery], refused: [Refused] }>}
 */
export class Receiver extends EventEmitter {
  /** Whether it answers 503 to everything. */
  isAway = false;
  /** @type {Delivery[]} */
  deliveries = [];

  /** @type {(secret: string) => void} */
  #resolveSecret = () => undefined;
  /** @type {Promise<string>} */
  #secret = new Promise((resolve) => (this.#resolveSecret = resolve));

  /** @param {{ certFile: string, keyFile: string }} certificate */
  constructor({ certFile, keyFile }) {
    super();
    this.server = createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) });
    this.server.on('request', (request, response) => void this.#receive(request, response));
  }

  /** Begins to listen. Returns the address to register. */
  async listen() {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `https://127.0.0.1:${portOf(this.server)}/webhooks`;
  }

  /**
   * Sets the secret of the endpoint, once it is created. A webhook that arrives earlier waits.
   *
   * @param {string} secret
   */
  useSecret(secret) {
    this.#resolveSecret(secret);
  }

  /**
   * Waits for a webhook, or returns an earlier one.
   *
   * @param {(body: Body) => boolean} wanted
   * @returns {Promise<Delivery | undefined>} undefined when none came in time
   */
  async received(wanted, seconds = 15) {
    const timeout = AbortSignal.timeout(seconds * 1000);
    for (;;) {
      const found = this.deliveries.find(({ body }) => wanted(body));
      if (found || timeout.aborted) return found;
      await once(this, 'delivery', { signal: timeout }).catch((/** @type {Error} */ error) => {
        if (error.name !== 'AbortError') throw error;
      });
    }
  }

  /**
   * @param {IncomingMessage} request
   * @param {ServerResponse} response
   */
  async #receive(request, response) {
    /** @type {Buffer[]} */
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const raw = Buffer.concat(chunks);
    const secret = await this.#secret;
    /** @type {Body} */
    const body = JSON.parse(raw.toString());
    if (this.isAway) {
      response.writeHead(503).end();
      this.emit('refused', { id: String(request.headers['webhook-id']), event: body.event });
      return;
    }
    const verified = hasValidSignature(raw, String(request.headers['x-service-signature']), secret);
    const verifiedByLibrary = isStandardWebhook(raw, request.headers, secret);
    response.writeHead(verified ? 204 : 401).end();

    const delivery = { headers: request.headers, body, verified, verifiedByLibrary };
    this.deliveries.push(delivery);
    this.emit('delivery', delivery);
  }
}

/**
 * Checks the contract's own signature. A receiver must check the received bytes, never JSON that it has
 * parsed and written again.
 *
 * @param {Buffer} raw
 * @param {string} header
 * @param {string} secret
 */
function hasValidSignature(raw, header, secret) {
  const expected = createHmac('sha256', secret).update(raw).digest();
  const given = Buffer.from(header.replace(/^sha256=/, ''), 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/**
 * @param {Buffer} raw
 * @param {IncomingHttpHeaders} headers
 * @param {string} secret
 */
function isStandardWebhook(raw, headers, secret) {
  try {
    new Webhook(secret).verify(raw, /** @type {Record<string, string>} */ (headers));
    return true;
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    return false;
  }
}
