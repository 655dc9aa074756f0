import signatures from '../vectors/signatures.json';
import type { WebhookEvent } from '../src/webhooks/event.ts';
import { verify } from '../src/webhooks/verify.ts';

interface SignatureVector {
  name: string;
  secrets: string[];
  now: string;
  toleranceSeconds?: number;
  headers: Record<string, string>;
  body: string;
  expect: { genuine: true } | { genuine: false; fault: string };
}

const VECTORS = signatures as unknown as SignatureVector[];

describe('verify', () => {
  it.each(VECTORS.map((vector) => [vector.name, vector] as const))('judges %s', async (_, vector) => {
    const { body, headers, secrets, toleranceSeconds, now } = vector;
    const options = { toleranceSeconds, now: new Date(now) };
    const verified = verify(body, headers, secrets, options);
    if (vector.expect.genuine) expect(await verified).toEqual(JSON.parse(body));
    else await expect(verified).rejects.toMatchObject({ code: vector.expect.fault });
  });

  const [{ body, headers, secrets, now }] = VECTORS as [SignatureVector];
  const options = { now: new Date(now) };

  it('takes text, bytes, a part of a buffer, and one secret', async () => {
    const event: unknown = JSON.parse(body);
    const bytes = new TextEncoder().encode(body);
    const part = new Uint8Array(bytes.length + 2).subarray(1, -1);
    part.set(bytes);
    for (const given of [body, bytes, bytes.buffer, part, Buffer.from(body)])
      expect(await verify(given, headers, secrets[0]!, options)).toEqual(event);
  });

  it('takes the headers of fetch and of Node', async () => {
    const event: unknown = JSON.parse(body);
    expect(await verify(body, new Headers(headers), secrets, options)).toEqual(event);
    const listed = { ...headers, 'webhook-id': [headers['webhook-id']!] };
    expect(await verify(body, listed, secrets, options)).toEqual(event);
    const twice = { ...headers, 'webhook-id': [headers['webhook-id']!, 'another'] };
    await expect(verify(body, twice, secrets, options)).rejects.toMatchObject({ code: 'NO_SIGNATURE' });
  });

  it('takes the present time for the age', async () => {
    await expect(
      verify(body, headers, secrets, { now: new Date(Date.parse(now) + 301_000) }),
    ).rejects.toThrow('signed too long ago');
    expect(await verify(body, headers, secrets, { toleranceSeconds: Infinity })).toEqual(JSON.parse(body));
  });

  it('says when the body was parsed before', async () => {
    await expect(verify(JSON.parse(body) as string, headers, secrets, options)).rejects.toThrow(
      'The body must be the raw bytes or text of the request',
    );
  });

  it.each([[''], [[]], [undefined], ['whsec_'], [['whsec_AAAA', undefined]], ['c2VjcmV0']])(
    'refuses %j as a secret, and does not repeat it',
    async (wrong) => {
      await expect(verify(body, headers, wrong as string, options)).rejects.toThrow(
        new TypeError("The secret must be an endpoint's whole secret, whsec_…, or a list of them."),
      );
    },
  );
});

describe('WebhookEvent', () => {
  it('is narrowed by its type; what is left has a type, too', () => {
    // The compiler checks the properties that each arm reads.
    const describeEvent = (event: WebhookEvent): string => {
      switch (event.event) {
        case 'message.created':
          return event.data.message.body;
        case 'conversation.updated':
          return event.data.status ?? 'assigned';
        case 'audit.event':
          return event.data.action;
        case 'webhook.test':
          return event.data.tenantId;
        default: {
          const name: string = event.event;
          return `${name}: ${Object.keys(event.data).join()}`;
        }
      }
    };
    const unknown = { event: 'invoice.paid', deliveredAt: '', data: { id: 1 } } as unknown as WebhookEvent;
    expect(describeEvent(unknown)).toBe('invoice.paid: id');
  });
});
