import { createHmac, timingSafeEqual } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

/**
 * @typedef {object} Delivery
 * @property {Record<string, string>} headers
 * @property {{ event: string, deliveredAt: string, data: any }} body
 * @property {boolean} verified by the contract's own signature
 * @property {boolean} verifiedByLibrary by a Standard Webhooks library
 */

/** A workspace's https server, which checks the signature of each webhook. */
export class Receiver extends EventEmitter {
  /** @type {Delivery[]} */
  deliveries = [];

  /**
   * Call it after creating the endpoint. A webhook that arrives earlier waits.
   * @type {(secret: string) => void}
   */
  useSecret;
  #secret = new Promise((resolve) => (this.useSecret = resolve));

  /** @param {{ certFile: string, keyFile: string }} certificate */
  constructor({ certFile, keyFile }) {
    super();
    this.server = createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) });
    this.server.on('request', (request, response) => void this.#receive(request, response));
  }

  /** @returns {Promise<string>} the address to register */
  async listen() {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `https://127.0.0.1:${this.server.address().port}/webhooks`;
  }

  /**
   * Waits for a webhook, or returns an earlier one.
   *
   * @param {(body: Delivery['body']) => boolean} wanted
   * @returns {Promise<Delivery | undefined>} undefined when none came in time
   */
  async received(wanted, seconds = 15) {
    const timeout = AbortSignal.timeout(seconds * 1000);
    for (;;) {
      const found = this.deliveries.find(({ body }) => wanted(body));
      if (found || timeout.aborted) return found;
      await once(this, 'delivery', { signal: timeout }).catch((error) => {
        if (error.name !== 'AbortError') throw error;
      });
    }
  }

  async #receive(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const raw = Buffer.concat(chunks);
    const secret = await this.#secret;
    const verified = hasValidSignature(raw, request.headers['x-service-signature'], secret);
    const verifiedByLibrary = isStandardWebhook(raw, request.headers, secret);
    response.writeHead(verified ? 204 : 401).end();

    const delivery = {
      headers: request.headers,
      body: JSON.parse(raw.toString()),
      verified,
      verifiedByLibrary,
    };
    this.deliveries.push(delivery);
    this.emit('delivery', delivery);
  }
}

/** A receiver must check the received bytes, never JSON that it has parsed and written again. */
function hasValidSignature(raw, header = '', secret) {
  const expected = createHmac('sha256', secret).update(raw).digest();
  const given = Buffer.from(header.replace(/^sha256=/, ''), 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function isStandardWebhook(raw, headers, secret) {
  try {
    new Webhook(secret).verify(raw, headers);
    return true;
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    return false;
  }
}
