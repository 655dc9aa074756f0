import { Webhook } from 'standardwebhooks';
import { isGenuine } from '../../examples/verify-webhook';
import { SYSTEM } from '../../src/access/principal';
import { KeyRotationService } from '../../src/secrets/key-rotation.service';
import { RollSecret } from '../../src/webhooks/endpoints/webhook-endpoint-input.dto';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { WebhookTestService } from '../../src/webhooks/testing/webhook-test.service';
import { MessagingHost } from '../support/messaging-host';
import { ReceivedWebhook, Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';
import { makeRetriesDue } from '../support/stored-deliveries';
import { subscribe, Subscription } from '../support/webhook-workspace';

const DAY_MS = 24 * 60 * 60 * 1000;
const OLD_KEY = `test:${Buffer.alloc(32, 7).toString('base64')}`;
const NEW_KEY = `next:${Buffer.alloc(32, 8).toString('base64')}`;

/**
 * Returns which of the secrets verify a webhook, by the rules of Standard Webhooks and of
 * x-service-signature.
 */
function verifiersOf({ body, headers }: ReceivedWebhook, secrets: Record<string, string>) {
  const names = Object.keys(secrets);
  const isStandard = (name: string) => {
    try {
      new Webhook(secrets[name]!).verify(body, headers as Record<string, string>);
      return true;
    } catch {
      return false;
    }
  };
  const signature = headers['x-service-signature'] as string;
  return {
    signatures: (headers['webhook-signature'] as string).split(' ').length,
    standard: names.filter(isStandard),
    service: names.filter((name) => isGenuine(body, signature, secrets[name]!)),
  };
}

describe('rolling the secret of an endpoint', () => {
  let service: TestService;
  let host: MessagingHost;
  let receiver: Receiver;

  beforeAll(async () => {
    service = await TestService.create({ role: 'all' });
    host = await MessagingHost.create({ beside: service });
    receiver = await Receiver.start();
  });
  afterEach(() => {
    receiver.https.respond = (response) => response.end('ok');
  });

  const endpoints = () => host.get(WebhookEndpointsService);
  const start = () => subscribe(host, receiver, { events: ['message.created'] });
  const roll = ({ workspace, endpoint }: Subscription, input: RollSecret = {}) =>
    endpoints().rollSecret(workspace.id, endpoint.id, input, SYSTEM);

  /** Returns the next webhook that the worker sends. */
  async function nextWebhook(subscription: Subscription): Promise<ReceivedWebhook> {
    const { id } = await subscription.message();
    const { path } = subscription;
    return receiver.waitFor(({ envelope }) => envelope.data.message?.id === id, path);
  }

  it('signs with both secrets until the end, then with the new one alone, without a restart', async () => {
    const subscription = await start();
    const { workspace, endpoint } = subscription;
    const secrets: Record<string, string> = { old: endpoint.secret };
    expect(verifiersOf(await nextWebhook(subscription), secrets)).toEqual({
      ...{ signatures: 1, standard: ['old'], service: ['old'] },
    });

    const { secret, ...rolled } = await roll(subscription, { gracePeriodSeconds: 3 });
    secrets.new = secret;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(secret).not.toBe(endpoint.secret);
    const end = rolled.previousSecretEndsAt!;
    // The success of the webhook above may be recorded or not.
    expect({ ...rolled, secret: endpoint.secret, lastSuccessAt: null }).toEqual({
      ...endpoint,
      previousSecretEndsAt: expect.any(Date),
      updatedAt: expect.any(Date),
    });
    expect(Math.abs(end.getTime() - Date.now() - 3_000)).toBeLessThan(2_000);
    expect(verifiersOf(await nextWebhook(subscription), secrets)).toEqual({
      ...{ signatures: 2, standard: ['old', 'new'], service: ['old'] },
    });

    await waitFor('the end of the previous secret', async () => {
      const { previousSecretEndsAt } = await endpoints().get(workspace.id, endpoint.id, SYSTEM);
      return previousSecretEndsAt === null;
    });
    expect(Date.now()).toBeGreaterThanOrEqual(end.getTime());
    expect(verifiersOf(await nextWebhook(subscription), secrets)).toEqual({
      ...{ signatures: 1, standard: ['new'], service: ['new'] },
    });
  });

  it('lasts 24 hours unless something else is said', async () => {
    const { previousSecretEndsAt } = await roll(await start());
    expect(Math.abs(previousSecretEndsAt!.getTime() - Date.now() - DAY_MS)).toBeLessThan(10_000);
  });

  it('can sign x-service-signature with the new secret from the start', async () => {
    const subscription = await start();
    const { secret } = await roll(subscription, { serviceSignature: 'new' });
    const secrets = { old: subscription.endpoint.secret, new: secret };
    expect(verifiersOf(await nextWebhook(subscription), secrets)).toEqual({
      ...{ signatures: 2, standard: ['old', 'new'], service: ['new'] },
    });
  });

  it('signs retries, tests and what was pending with both', async () => {
    const subscription = await start();
    const { endpoint, path } = subscription;
    receiver.https.respond = (response) => response.writeHead(500).end();
    const failed = await nextWebhook(subscription);
    receiver.https.respond = (response) => response.end('ok');

    const { secret } = await roll(subscription);
    const secrets = { old: endpoint.secret, new: secret };
    await makeRetriesDue(host, endpoint);
    const id = failed.headers['webhook-id'];
    const [, retry] = await waitFor('the retry', () => {
      const attempts = receiver.received(path).filter(({ headers }) => headers['webhook-id'] === id);
      return attempts.length === 2 && attempts;
    });
    expect(await subscription.test(endpoint)).toMatchObject({ status: 200 });
    const test = receiver.received(path).find(({ envelope }) => envelope.event === 'webhook.test');

    const both = { signatures: 2, standard: ['old', 'new'], service: ['old'] };
    expect(verifiersOf(failed, secrets)).toEqual({ signatures: 1, standard: ['old'], service: ['old'] });
    expect(verifiersOf(retry!, secrets)).toEqual(both);
    expect(verifiersOf(test!, secrets)).toEqual(both);
  });

  it('ends the previous secret by a call, once', async () => {
    const subscription = await start();
    const { workspace, endpoint } = subscription;
    const { secret, ...rolled } = await roll(subscription);
    const end = () => endpoints().endPreviousSecret(workspace.id, endpoint.id, SYSTEM);

    const ended = await end();
    expect(ended).toEqual({ ...rolled, previousSecretEndsAt: null, updatedAt: expect.any(Date) });
    expect(await end()).toEqual(ended);
    expect(await subscription.test(endpoint)).toMatchObject({ status: 200 });
    const [test] = receiver.received(subscription.path);
    expect(verifiersOf(test!, { old: endpoint.secret, new: secret })).toEqual({
      ...{ signatures: 1, standard: ['new'], service: ['new'] },
    });
    expect((await subscription.auditOf(endpoint)).map(({ action }) => action)).toEqual([
      'webhook_endpoint.tested',
      'webhook_endpoint.previous_secret_ended',
      'webhook_endpoint.secret_rolled',
      'webhook_endpoint.created',
    ]);
  });

  it('ends the previous secret at once with a grace period of 0', async () => {
    const subscription = await start();
    const { endpoint } = subscription;
    const { secret, previousSecretEndsAt } = await roll(subscription, { gracePeriodSeconds: 0 });
    expect(previousSecretEndsAt).toBeNull();
    expect(await subscription.test(endpoint)).toMatchObject({ status: 200 });
    const [test] = receiver.received(subscription.path);
    expect(verifiersOf(test!, { old: endpoint.secret, new: secret })).toEqual({
      ...{ signatures: 1, standard: ['new'], service: ['new'] },
    });
  });

  it('refuses a second roll while two secrets sign, unless it ends both', async () => {
    const subscription = await start();
    const { endpoint } = subscription;
    const [one, other] = await Promise.allSettled([roll(subscription), roll(subscription)]);
    const [done, refused] = one.status === 'fulfilled' ? [one, other] : [other, one];
    expect(refused).toMatchObject({
      status: 'rejected',
      reason: {
        code: 'INVALID_BODY',
        message: expect.stringMatching(/still signs, until 20.*Z\. End it first/),
      },
    });
    if (done.status !== 'fulfilled') throw new Error('neither was done');
    const first = done.value;
    expect(await endpoints().get(subscription.workspace.id, endpoint.id, SYSTEM)).toMatchObject({
      previousSecretEndsAt: first.previousSecretEndsAt,
    });

    const last = await roll(subscription, { gracePeriodSeconds: 0 });
    const secrets = { old: endpoint.secret, first: first.secret, last: last.secret };
    expect(verifiersOf(await nextWebhook(subscription), secrets)).toEqual({
      ...{ signatures: 1, standard: ['last'], service: ['last'] },
    });
  });

  it('keeps both secrets encrypted, and gives neither away again', async () => {
    const subscription = await start();
    const { workspace, endpoint } = subscription;
    const { secret } = await roll(subscription);
    const [row] = await host.query('SELECT * FROM webhook_endpoints WHERE id = $1', [endpoint.id]);
    const shown = [
      await endpoints().get(workspace.id, endpoint.id, SYSTEM),
      await endpoints().list(workspace.id, SYSTEM),
      await subscription.auditOf(endpoint),
      row,
    ];
    for (const one of [secret, endpoint.secret]) {
      expect(JSON.stringify(shown)).not.toContain(one.slice('whsec_'.length));
      const bytes = Buffer.from(one.slice('whsec_'.length), 'base64');
      for (const column of [row!.secret_ciphertext, row!.previous_secret_ciphertext] as Buffer[]) {
        expect(column.includes(bytes)).toBe(false);
        expect(column.includes(Buffer.from(one))).toBe(false);
      }
    }
  });

  it('puts both secrets under a new key', async () => {
    const subscription = await start();
    const { workspace, endpoint } = subscription;
    const { secret } = await roll(subscription);
    const both = await MessagingHost.create({ beside: service, secretsKeys: `${NEW_KEY},${OLD_KEY}` });
    expect((await both.get(KeyRotationService).reencrypt()).reencrypted).toBeGreaterThanOrEqual(2);
    expect(await both.get(KeyRotationService).reencrypt()).toEqual({ reencrypted: 0 });
    await both.close();

    const later = await MessagingHost.create({ beside: service, secretsKeys: NEW_KEY });
    try {
      const test = await later.get(WebhookTestService).test(workspace.id, endpoint.id, SYSTEM);
      expect(test).toMatchObject({ status: 200 });
      const [webhook] = receiver.received(subscription.path);
      expect(verifiersOf(webhook!, { old: endpoint.secret, new: secret })).toEqual({
        ...{ signatures: 2, standard: ['old', 'new'], service: ['old'] },
      });
    } finally {
      await later.close();
      const back = await MessagingHost.create({ beside: service, secretsKeys: `${OLD_KEY},${NEW_KEY}` });
      await back.get(KeyRotationService).reencrypt();
      await back.close();
    }
  });

  it.each([
    ['gracePeriodSeconds', -1],
    ['gracePeriodSeconds', 604_801],
    ['gracePeriodSeconds', 1.5],
    ['gracePeriodSeconds', '60'],
    ['serviceSignature', 'old'],
    ['secret', 'whsec_mine'],
  ])('refuses %s %p, and changes nothing', async (field, value) => {
    const subscription = await start();
    await expect(roll(subscription, { [field]: value })).rejects.toMatchObject({
      code: 'INVALID_BODY',
      details: [{ field, message: expect.any(String) }],
    });
    const { secret } = subscription.endpoint;
    expect(verifiersOf(await nextWebhook(subscription), { old: secret }).service).toEqual(['old']);
  });

  it('knows no endpoint of another workspace, and none that is deleted', async () => {
    const [subscription, other] = [await start(), await start()];
    const { workspace, endpoint } = subscription;
    const calls = (tenantId: string, id: string) => [
      () => endpoints().rollSecret(tenantId, id, {}, SYSTEM),
      () => endpoints().endPreviousSecret(tenantId, id, SYSTEM),
    ];
    await endpoints().delete(workspace.id, endpoint.id, SYSTEM);
    for (const call of [
      ...calls(workspace.id, other.endpoint.id),
      ...calls(workspace.id, endpoint.id),
      ...calls(workspace.id, 'nonsense'),
    ])
      await expect(call()).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
