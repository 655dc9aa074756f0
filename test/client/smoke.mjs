import { MessagingClient, NotFoundError, webhooks } from '@conversation-messaging/client';

/**
 * Uses the client as its users do, in whatever runs JavaScript. It throws when something is not as it should
 * be.
 *
 * @param {string} baseUrl address of a server that answers as main.mjs lets it
 * @param {import('./vectors.d.mts').SignatureVector[]} vectors
 */
export async function smoke(baseUrl, vectors) {
  for (const { name, body, headers, secrets, toleranceSeconds, now, expect } of vectors) {
    const options = { toleranceSeconds, now: new Date(now) };
    const fault = await webhooks.verify(body, headers, secrets, options).then(
      () => undefined,
      (/** @type {{ code: string }} */ error) => error.code,
    );
    if (fault !== expect.fault) throw new Error(`${name}: ${fault} instead of ${expect.fault}`);
  }

  const client = new MessagingClient({ baseUrl, apiKey: 'plk_smoke' });
  // The server is busy at first.
  const { tenant } = await client.me();
  if (tenant.name !== 'Zoë’s shop') throw new Error(`The tenant is ${tenant.name}`);
  const refused = await client.conversations.get('none').catch((/** @type {unknown} */ error) => error);
  if (!(refused instanceof NotFoundError)) throw new Error('No NotFoundError was thrown.');
  const request = new Request(baseUrl, { method: 'POST', body: '{}' });
  const handler = webhooks.fetchHandler('whsec_AAAA', () => undefined);
  if ((await handler(request)).status !== 401) throw new Error('A forged webhook was not refused.');
}
