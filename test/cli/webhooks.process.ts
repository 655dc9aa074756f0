import { createHmac } from 'node:crypto';
import { Receiver } from '../support/receiver';
import { ISO_TIME, NEW_KEY, NOWHERE, OLD_KEY, UUID, TestCli } from '../support/test-cli';

jest.setTimeout(90_000);

let cli: TestCli;

beforeAll(async () => {
  cli = await TestCli.start();
});

describe('webhook', () => {
  let receiver: Receiver;

  beforeAll(async () => {
    receiver = await Receiver.start();
    receiver.https.respond = (response, { path }) =>
      response.writeHead(path === '/failing' ? 500 : 200).end('ok');
  });
  afterAll(() => receiver.stop());

  const create = (url: string, events: string) => [
    ...['webhook', 'create', '--workspace', 'acme', '--url', url, '--events', events],
  ];

  it('registers, tests, stops, starts and deletes an endpoint', async () => {
    const { secret, ...endpoint } = await cli.call(
      ...create(receiver.url('/life'), 'message.created,audit.event'),
    );
    const { id } = endpoint;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(endpoint).toEqual({
      id: UUID,
      name: null,
      description: null,
      url: receiver.url('/life'),
      events: ['message.created', 'audit.event'],
      active: true,
      automaticRecovery: false,
      version: 1,
      rateLimit: null,
      previousSecretEndsAt: null,
      failingSince: null,
      lastSuccessAt: null,
      context: false,
      contextParts: [],
      deactivation: null,
      madeBy: { type: 'operator', id: null },
      urlSetBy: { type: 'operator', id: null },
      createdAt: ISO_TIME,
      updatedAt: ISO_TIME,
    });
    expect(await cli.call('webhook', 'list', '--workspace', 'acme')).toEqual({ data: [endpoint] });

    const result = await cli.call('webhook', 'test', '--id', id);
    expect(result).toEqual({
      deliveryId: UUID,
      status: 200,
      elapsedMs: expect.any(Number),
      error: null,
      fault: null,
      phases: expect.any(Object),
      response: { encoding: 'utf8', body: expect.any(String) },
      responseHeaders: expect.stringContaining('date: '),
    });
    const [webhook] = receiver.received('/life');
    expect(webhook?.headers['x-service-signature']).toBe(signatureOf(secret, webhook!.body));

    const attempt = { at: ISO_TIME, statusCode: 200, durationMs: expect.any(Number), error: null };
    expect(await cli.call('webhook', 'deliveries', '--id', id, '--status', 'succeeded')).toEqual({
      data: [
        {
          id: UUID,
          endpointId: id,
          eventId: UUID,
          event: 'webhook.test',
          subject: { conversationId: null, contactId: null, contactName: null, text: null },
          status: 'succeeded',
          createdAt: ISO_TIME,
          nextAttemptAt: null,
          attempts: [attempt],
        },
      ],
      nextCursor: null,
    });

    const url = receiver.url('/moved');
    const edited = await cli.call(
      ...[
        'webhook',
        'update',
        '--id',
        id,
        '--url',
        url,
        '--events',
        '*',
        '--rate-limit',
        '5',
        '--name',
        'CRM',
      ],
    );
    const changes = { url, events: ['*'], rateLimit: 5, name: 'CRM', version: 2 };
    expect(edited).toEqual({ ...endpoint, ...changes, updatedAt: ISO_TIME });
    expect(
      await cli.call(
        'webhook',
        'update',
        '--id',
        id,
        '--no-rate-limit',
        '--no-name',
        '--description',
        'Sync',
      ),
    ).toMatchObject({ url, events: ['*'], rateLimit: null, name: null, description: 'Sync', version: 3 });
    const last = { ...endpoint, url, events: ['*'], description: 'Sync', version: 3 };

    const stopped = await cli.call('webhook', 'deactivate', '--id', id);
    expect(stopped).toEqual({ ...last, active: false, updatedAt: ISO_TIME });
    expect(await cli.call('webhook', 'activate', '--id', id)).toEqual({ ...last, updatedAt: ISO_TIME });
    expect(await cli.call('webhook', 'delete', '--id', id)).toEqual({ id, deleted: true });
    expect(await cli.refusal('webhook', 'test', '--id', id)).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('ends with 1, and still prints what came of it, when the receiver of a test fails', async () => {
    const { id } = await cli.call(...create(receiver.url('/failing'), '*'));
    const { code, stdout, stderr } = await cli.run(cli.env, 'webhook', 'test', '--id', id);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ status: 500, error: 'Answered 500' });
  });

  it('lists deliveries by every filter, of an endpoint or of the whole workspace', async () => {
    await cli.call('workspace', 'create', '--name', 'Filters', '--slug', 'filters', '--plan', 'PRO');
    const make = (path: string) =>
      cli.call(
        ...['webhook', 'create', '--workspace', 'filters', '--url', receiver.url(path), '--events', '*'],
      );
    const [one, other] = await Promise.all([make('/one'), make('/other')]);
    await cli.call('webhook', 'test', '--id', one.id);
    await cli.call('webhook', 'test', '--id', other.id);
    const list = async (...filters: string[]) =>
      (await cli.call('webhook', 'deliveries', ...filters)).data.map(
        (d: { endpointId: string }) => d.endpointId,
      );

    const ofWorkspace = ['--workspace', 'filters'];
    const whole = ['--event', 'webhook.test', '--status', 'succeeded', '--since', '2026-01-01'];
    const firstPage = await cli.call('webhook', 'deliveries', ...ofWorkspace, '--limit', '1');
    expect(firstPage.nextCursor).toBe(firstPage.data[0].id);
    const lists = await Promise.all([
      list(...ofWorkspace),
      list('--id', one.id),
      list(...ofWorkspace, ...whole, '--until', '2100-01-01'),
      list(...ofWorkspace, '--until', '2026-01-01'),
      list(...ofWorkspace, '--event', 'message.created'),
      list('--id', one.id, '--status-code', '2xx'),
      list('--id', one.id, '--error', 'timeout'),
      list(...ofWorkspace, '--conversation-id', NOWHERE),
      list(...ofWorkspace, '--message-id', NOWHERE),
      list(...ofWorkspace, '--cursor', firstPage.nextCursor),
    ]);
    expect(lists).toEqual([
      [other.id, one.id],
      [one.id],
      [other.id, one.id],
      [],
      [],
      [one.id],
      [],
      [],
      [],
      [one.id],
    ]);

    const [neither, since] = await Promise.all([
      cli.refusal('webhook', 'deliveries'),
      cli.refusal('webhook', 'deliveries', ...ofWorkspace, '--since', 'yesterday'),
    ]);
    expect(neither).toMatchObject({ code: 'INVALID_BODY', details: [{ field: 'id' }] });
    expect(since).toMatchObject({ code: 'INVALID_BODY', message: expect.stringContaining('ISO 8601') });
  });

  it('shows a delivery whole, and delivers it again', async () => {
    const { id } = await cli.call(...create(receiver.url('/again'), '*'));
    await cli.call('webhook', 'test', '--id', id);
    const [listed] = (await cli.call('webhook', 'deliveries', '--id', id)).data;
    const named = ['--workspace', 'acme', '--id', listed.id];

    const whole = await cli.call('webhook', 'delivery', ...named);
    const ms = expect.any(Number);
    const detail = {
      errorMessage: null,
      fault: null,
      phases: { lookupMs: ms, connectMs: ms, tlsMs: ms, firstByteMs: ms },
      response: { encoding: 'utf8', body: 'ok' },
      responseHeaders: expect.stringContaining('date: '),
    };
    const request = {
      method: 'POST',
      url: receiver.url('/again'),
      headers: expect.any(Array),
      body: expect.any(String),
    };
    expect(whole).toEqual({ ...listed, request, attempts: [{ ...listed.attempts[0], ...detail }] });

    const again = await cli.call('webhook', 'redeliver', ...named);
    expect(again).toEqual({ ...whole, status: 'pending', nextAttemptAt: null });
    await cli.call('webhook', 'deactivate', '--id', id);
    const [inactive, unknown] = await Promise.all([
      cli.refusal('webhook', 'redeliver', ...named),
      cli.refusal('webhook', 'delivery', '--workspace', 'acme', '--id', NOWHERE),
    ]);
    expect(inactive).toMatchObject({ code: 'INVALID_BODY', message: expect.stringContaining('activate') });
    expect(unknown).toMatchObject({ code: 'NOT_FOUND', message: 'Webhook delivery not found.' });
  });

  it('counts what a recovery would deliver, starts it, and follows it', async () => {
    const { id } = await cli.call(...create(receiver.url('/recovered'), 'message.created'));
    const recover = ['webhook', 'recover', '--id', id, '--since', '2026-01-01T00:00:00Z'];
    const plan = {
      id: null,
      endpointId: id,
      kind: 'missed',
      filter: null,
      since: ISO_TIME,
      until: ISO_TIME,
      status: 'dry_run',
      total: 0,
      isTotalComplete: true,
      recovered: 0,
      isAllMade: false,
      pending: 0,
      succeeded: 0,
      exhausted: 0,
      cancelled: 0,
      startedBy: expect.stringMatching(/^operator:/),
      createdAt: ISO_TIME,
      finishedAt: null,
    };
    expect(await cli.call(...recover, '--dry-run')).toEqual(plan);
    const started = await cli.call(...recover);
    expect(started).toEqual({ ...plan, id: UUID, status: 'running' });
    // No worker runs here, so the recovery waits for one.
    expect(await cli.call('webhook', 'recovery', '--id', started.id)).toEqual(started);
    const [second, unknown] = await Promise.all([
      cli.refusal(...recover),
      cli.refusal('webhook', 'recovery', '--id', NOWHERE),
    ]);
    expect(second).toMatchObject({ code: 'INVALID_BODY', message: expect.stringContaining('already') });
    expect(unknown).toMatchObject({ code: 'NOT_FOUND', message: 'Webhook recovery not found.' });
    const cancelled = await cli.call('webhook', 'cancel-recovery', '--id', started.id);
    expect(cancelled).toEqual({ ...started, status: 'cancelled', isAllMade: true, finishedAt: ISO_TIME });
  });

  it('shows how an endpoint fares, and keeps it to a rate', async () => {
    const paced = await cli.call(...create(receiver.url('/paced'), '*'), '--rate-limit', '5');
    expect(paced).toMatchObject({ rateLimit: 5 });
    expect(await cli.call('webhook', 'health', '--id', paced.id)).toEqual({
      active: true,
      failingSince: null,
      lastSuccessAt: null,
      last24Hours: { pending: 0, succeeded: 0, exhausted: 0, cancelled: 0, late: 0 },
      cancelling: null,
    });
    const [none, many] = await Promise.all(
      ['0', '1001'].map((rate) => cli.refusal(...create(receiver.url('/paced'), '*'), '--rate-limit', rate)),
    );
    expect(none).toMatchObject({ code: 'INVALID_BODY', details: [{ field: 'rateLimit' }] });
    expect(many).toMatchObject({ code: 'INVALID_BODY', details: [{ field: 'rateLimit' }] });
  });

  it('names the setting that allows a private address', async () => {
    expect(await cli.refusal(...create('https://10.0.0.1/', '*'))).toMatchObject({
      code: 'INVALID_BODY',
      message: expect.stringContaining('WEBHOOK_ALLOWED_NETWORKS'),
      details: [{ field: 'url' }],
    });
  });

  it('rolls a secret, and ends the previous one', async () => {
    const { id, secret: old } = await cli.call(...create(receiver.url('/rolled'), '*'));
    const roll = ['webhook', 'roll-secret', '--id', id];
    const signedBy = async () => {
      await cli.call('webhook', 'test', '--id', id);
      const { headers, body } = receiver.received('/rolled').at(-1)!;
      return { secret: (secret: string) => headers['x-service-signature'] === signatureOf(secret, body) };
    };

    const rolled = await cli.call(
      ...roll,
      '--grace-period-seconds',
      '600',
      '--service-signature',
      'previous',
    );
    expect(rolled).toMatchObject({ id, secret: expect.any(String), previousSecretEndsAt: ISO_TIME });
    expect((await signedBy()).secret(old)).toBe(true);
    const [again, tooLong] = await Promise.all([
      cli.refusal(...roll),
      cli.refusal(...roll, '--grace-period-seconds', '604801'),
    ]);
    expect(again).toMatchObject({ code: 'INVALID_BODY', message: expect.stringContaining('End it first') });
    expect(tooLong).toMatchObject({ code: 'INVALID_BODY', details: [{ field: 'gracePeriodSeconds' }] });

    const ended = await cli.call('webhook', 'end-secret', '--id', id);
    expect(ended).toMatchObject({ id, previousSecretEndsAt: null });
    expect(ended).not.toHaveProperty('secret');
    expect((await signedBy()).secret(rolled.secret)).toBe(true);
  });

  it('refuses an address that is not https, an event that is none, and a status that is none', async () => {
    const { id } = await cli.call(...create(receiver.url('/any'), '*'));
    const [http, event, status] = await Promise.all([
      cli.refusal(...create('http://example.com/hook', '*')),
      cli.refusal(...create(receiver.url('/bad'), 'message.deleted')),
      cli.refusal('webhook', 'deliveries', '--id', id, '--status', 'lost'),
    ]);
    expect(http).toMatchObject({ code: 'INVALID_BODY', details: [{ field: 'url' }] });
    expect(event).toMatchObject({ code: 'INVALID_BODY', details: [{ field: 'events' }] });
    expect(status).toMatchObject({ code: 'INVALID_QUERY', details: [{ field: 'status' }] });
  });

  it('re-encrypts the secrets under a new first key, so that the old one can go', async () => {
    const { id, secret } = await cli.call(...create(receiver.url('/rekeyed'), '*'));
    const reencrypt = () =>
      cli.callIn({ ...cli.env, SECRETS_KEYS: `${NEW_KEY},${OLD_KEY}` }, 'secrets', 'reencrypt');
    expect((await reencrypt()).reencrypted).toBeGreaterThanOrEqual(1);
    expect(await reencrypt()).toEqual({ reencrypted: 0 });

    await cli.callIn({ ...cli.env, SECRETS_KEYS: NEW_KEY }, 'webhook', 'test', '--id', id);
    const [webhook] = receiver.received('/rekeyed');
    expect(webhook?.headers['x-service-signature']).toBe(signatureOf(secret, webhook!.body));
  });
});

function signatureOf(secret: string, body: Buffer): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}
