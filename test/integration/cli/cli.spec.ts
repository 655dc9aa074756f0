import { execFile } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { Client } from 'pg';
import { buildProgram } from '../../../src/cli/program';
import { LinksService } from '../../../src/logins/links.service';
import { LoggedIn } from '../../../src/logins/sessions/session.dto';
import { Dashboard } from '../../support/dashboard';
import { OTHER_PASSWORD, PASSWORD, tokenOf } from '../../support/logins';
import { Receiver } from '../../support/receiver';
import { TelegramSimulator } from '../../support/simulators/telegram';
import {
  createEmptyDatabase,
  createStores,
  dropStores,
  ownerOf,
  setting,
  TestStores,
} from '../../support/test-database';
import { CommandResult, WarmCli } from '../../support/warm-cli';

const CLI = resolve(__dirname, '../../../dist/cli.js');
const NOWHERE = '01900000-0000-7000-8000-000000000000';
const UUID = expect.stringMatching(
  /^[0-9a-f]{8}-[0-9a-f]{4}-[78][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
);
const MOMENT = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
const OLD_KEY = `old:${randomBytes(32).toString('base64')}`;
const NEW_KEY = `new:${randomBytes(32).toString('base64')}`;

jest.setTimeout(90_000);

let stores: TestStores;
let folder: string;
let env: Record<string, string>;
let warm: WarmCli;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'messaging-cli-'));
  stores = await createStores();
  env = {
    DATABASE_URL: stores.databaseUrl,
    REDIS_URL: stores.redisUrl,
    SECRETS_KEYS: OLD_KEY,
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    WEBHOOK_EXTRA_CA_FILE: setting('TEST_CA_FILE'),
  };
  warm = await WarmCli.start(folder);
  await cli('workspace', 'create', '--name', 'Acme', '--slug', 'acme', '--plan', 'PRO');
});

afterAll(async () => {
  await warm.stop();
  await dropStores(stores);
  rmSync(folder, { recursive: true });
});

describe('workspace', () => {
  it('creates a workspace, lists it, and changes what is given', async () => {
    const created = await cli(
      ...['workspace', 'create', '--name', 'Zoë & Co', '--slug', 'zoe', '--plan', 'TRIAL'],
      ...[
        '--trial-ends-at',
        '2030-01-02T03:04:05Z',
        '--rate-limit',
        '10',
        '--entitlements',
        'auditWebhookExport',
      ],
    );
    expect(created).toEqual({
      id: UUID,
      name: 'Zoë & Co',
      slug: 'zoe',
      planTier: 'TRIAL',
      trialEndsAt: '2030-01-02T03:04:05.000Z',
      rateLimit: 10,
      messageRetentionDays: null,
      entitlements: ['auditWebhookExport'],
      suspendedAt: null,
      resumedAt: null,
      createdAt: MOMENT,
      updatedAt: MOMENT,
    });

    const { data: all } = await cli('workspace', 'list');
    expect(all).toEqual([created, expect.objectContaining({ slug: 'acme' })]);

    const inZoe = ['workspace', 'update', '--slug', 'zoe'];
    const upgraded = await cli(...inZoe, '--plan', 'PRO');
    expect(upgraded).toEqual({ ...created, planTier: 'PRO', updatedAt: MOMENT });
    expect(await cli(...inZoe, '--rate-limit', 'default', '--entitlements', '')).toEqual({
      ...upgraded,
      rateLimit: null,
      messageRetentionDays: null,
      entitlements: [],
      updatedAt: MOMENT,
    });
  });

  it('suspends a workspace, resumes it, and schedules its deletion after an export of its audit log', async () => {
    await cli('workspace', 'create', '--name', 'Last', '--slug', 'last', '--plan', 'PRO');
    const named = ['--slug', 'last'];
    expect(await cli('workspace', 'suspend', ...named)).toMatchObject({ slug: 'last', suspendedAt: MOMENT });
    expect(await cli('workspace', 'resume', ...named)).toMatchObject({
      suspendedAt: null,
      resumedAt: MOMENT,
    });

    const [first, second] = [join(folder, 'first.jsonl'), join(folder, 'second.jsonl')];
    const actionsIn = (file: string) =>
      readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { action: string }).action);
    const history = ['workspace.created', 'workspace.suspended', 'workspace.resumed'];
    const deletion = await cli('workspace', 'delete', ...named, '--grace-days', '7', '--export-audit', first);
    expect(deletion).toEqual({
      workspaceId: UUID,
      slug: 'last',
      status: 'scheduled',
      requestedAt: MOMENT,
      dueAt: MOMENT,
      startedAt: null,
      deletedRows: 0,
      table: null,
    });
    expect(actionsIn(first)).toEqual(history);
    expect(await cli('workspace', 'deletion', ...named)).toEqual(deletion);
    expect(await cli('workspace', 'deletions')).toEqual({ data: [deletion] });

    const exported = ['audit', 'export', '--workspace', 'last', '--file'];
    expect(await cli(...exported, second)).toEqual({ file: second, entries: 5 });
    expect(actionsIn(second)).toEqual([...history, 'workspace.deletion_scheduled', 'workspace.suspended']);
    expect(await refusal(...exported, second)).toMatchObject({
      code: 'INVALID_BODY',
      details: [{ field: 'file', message: 'cannot be written: EEXIST' }],
    });
    expect(await cli('workspace', 'cancel-deletion', ...named)).toMatchObject({ suspendedAt: null });
    expect(await refusal('workspace', 'deletion', ...named)).toMatchObject({ code: 'NOT_FOUND' });
    expect(await refusal('workspace', 'delete', ...named, '--grace-days', '400')).toMatchObject({
      code: 'INVALID_BODY',
      details: [{ field: 'graceDays' }],
    });
  });

  it('refuses a slug that is taken, a plan that is none, and a workspace that is not there', async () => {
    const create = ['workspace', 'create', '--name', 'Again', '--slug', 'acme', '--plan'];
    expect(await refusal(...create, 'PRO')).toMatchObject({
      code: 'INVALID_BODY',
      details: [{ field: 'slug' }],
    });
    expect(await refusal(...create, 'GOLD')).toMatchObject({
      code: 'INVALID_BODY',
      details: [{ field: 'planTier' }],
    });
    expect(await refusal('workspace', 'update', '--slug', 'gone', '--plan', 'PRO')).toEqual({
      code: 'NOT_FOUND',
      message: 'Workspace "gone" not found.',
      requestId: null,
    });
  });
});

describe('agent', () => {
  it('creates agents and bots, lists them, and changes their role and whether they may act', async () => {
    const create = ['agent', 'create', '--workspace', 'acme'];
    const [ada, bot] = await Promise.all([
      cli(
        ...[...create, '--name', 'Ada Lovelace', '--display-name', 'Ada'],
        ...['--email', 'ada@example.com', '--role', 'OWNER'],
      ),
      cli(...create, '--name', 'Robo', '--email', 'r@example.com', '--role', 'AGENT', '--bot', '--inactive'),
    ]);
    expect(ada).toMatchObject({
      ...{ id: UUID, name: 'Ada Lovelace', displayName: 'Ada' },
      ...{ role: 'OWNER', isBot: false, active: true },
    });
    expect(bot).toMatchObject({
      ...{ displayName: null, email: 'r@example.com' },
      ...{ role: 'AGENT', isBot: true, active: false },
    });

    const updated = await cli('agent', 'update', '--id', bot.id, '--role', 'ADMIN', '--active', 'true');
    expect(updated).toEqual({ ...bot, role: 'ADMIN', active: true, updatedAt: MOMENT });

    const { data: all } = await cli('agent', 'list', '--workspace', 'acme');
    expect(all).toHaveLength(2);
    expect(all).toEqual(expect.arrayContaining([ada, updated]));

    // The last OWNER can't become an ADMIN.
    await cli(...create, '--name', 'Olga', '--email', 'olga@example.com', '--role', 'OWNER');
    const update = (...flags: string[]) => cli('agent', 'update', '--id', ada.id as string, ...flags);
    expect(await update('--display-name', 'Countess')).toMatchObject({ displayName: 'Countess' });
    expect(await update('--role', 'ADMIN')).toMatchObject({ displayName: 'Countess' });
    expect(await update('--no-display-name')).toMatchObject({ displayName: null, role: 'ADMIN' });
    expect(await refusal('agent', 'update', '--id', ada.id as string, '--display-name', ' ')).toMatchObject({
      code: 'INVALID_BODY',
      details: [{ field: 'displayName', message: 'must not be blank' }],
    });
  });

  it('answers alike for an id that is unknown and for one that is none', async () => {
    const [unknown, none] = await Promise.all(
      [NOWHERE, 'nobody'].map((id) => refusal('agent', 'update', '--id', id, '--active', 'false')),
    );
    expect(unknown).toEqual({ code: 'NOT_FOUND', message: 'Agent not found.', requestId: null });
    expect(none).toEqual(unknown);
  });
});

describe('api-key', () => {
  it('creates a key, lists it without its value, and revokes it', async () => {
    const { key, ...created } = await cli(
      ...['api-key', 'create', '--workspace', 'acme', '--name', 'CRM'],
      ...['--scopes', 'conversations:read,messages:write', '--expires-at', '2030-01-01'],
    );
    expect(key).toMatch(/^plk_[0-9A-Za-z]{40}$/);
    expect(created).toEqual({
      id: UUID,
      name: 'CRM',
      preview: `${key.slice(0, 8)}…${key.slice(-4)}`,
      scopes: ['conversations:read', 'messages:write'],
      allowedNetworks: null,
      createdBy: null,
      createdAt: MOMENT,
      lastUsedAt: null,
      expiresAt: '2030-01-01T00:00:00.000Z',
      revokedAt: null,
    });

    const revoked = await cli('api-key', 'revoke', '--id', created.id);
    expect(revoked).toEqual({ ...created, revokedAt: MOMENT });
    expect(await cli('api-key', 'list', '--workspace', 'acme')).toEqual({ data: [revoked] });
  });

  it('creates a key for some networks and a bounded life, and lists those that are unused', async () => {
    const create = ['api-key', 'create', '--workspace', 'acme', '--name', 'x', '--scopes', 'contacts:read'];
    const networks = ['--allowed-networks', '203.0.113.0/24,2001:db8::/32'];
    const created = await cliIn({ ...env, API_KEY_MAX_LIFE_DAYS: '90' }, ...create, ...networks);
    expect(created).toMatchObject({
      allowedNetworks: ['203.0.113.0/24', '2001:db8::/32'],
      expiresAt: MOMENT,
    });
    await query(
      stores.databaseUrl,
      `UPDATE api_keys SET created_at = now() - interval '91 days' WHERE id = $1`,
      [created.id],
    );
    const { data } = await cli('api-key', 'list', '--workspace', 'acme', '--unused', '90');
    expect(data.map(({ id }: { id: string }) => id)).toEqual([created.id]);
  });

  it('refuses a scope that is none, and an end that has passed', async () => {
    const create = ['api-key', 'create', '--workspace', 'acme', '--name', 'x', '--scopes', 'contacts:write'];
    expect(await refusal(...create, '--expires-at', '2020-01-01')).toMatchObject({
      code: 'INVALID_BODY',
      details: [{ field: 'scopes' }, { field: 'expiresAt', message: 'must be in the future' }],
    });
  });
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
    const { secret, ...endpoint } = await cli(
      ...create(receiver.url('/life'), 'message.created,audit.event'),
    );
    const { id } = endpoint;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(endpoint).toEqual({
      id: UUID,
      url: receiver.url('/life'),
      events: ['message.created', 'audit.event'],
      active: true,
      rateLimit: null,
      previousSecretEndsAt: null,
      failingSince: null,
      lastSuccessAt: null,
      createdAt: MOMENT,
      updatedAt: MOMENT,
    });
    expect(await cli('webhook', 'list', '--workspace', 'acme')).toEqual({ data: [endpoint] });

    const result = await cli('webhook', 'test', '--id', id);
    expect(result).toEqual({
      status: 200,
      elapsedMs: expect.any(Number),
      error: null,
      phases: expect.any(Object),
      response: { encoding: 'utf8', body: expect.any(String) },
      responseHeaders: expect.stringContaining('date: '),
    });
    const [webhook] = receiver.received('/life');
    expect(webhook?.headers['x-service-signature']).toBe(signatureOf(secret, webhook!.body));

    const attempt = { at: MOMENT, statusCode: 200, durationMs: expect.any(Number), error: null };
    expect(await cli('webhook', 'deliveries', '--id', id, '--status', 'succeeded')).toEqual({
      data: [
        {
          id: UUID,
          endpointId: id,
          eventId: UUID,
          event: 'webhook.test',
          status: 'succeeded',
          createdAt: MOMENT,
          nextAttemptAt: null,
          attempts: [attempt],
        },
      ],
      nextCursor: null,
    });

    const stopped = await cli('webhook', 'deactivate', '--id', id);
    expect(stopped).toEqual({ ...endpoint, active: false, updatedAt: MOMENT });
    expect(await cli('webhook', 'activate', '--id', id)).toEqual({ ...endpoint, updatedAt: MOMENT });
    expect(await cli('webhook', 'delete', '--id', id)).toEqual({ id, deleted: true });
    expect(await refusal('webhook', 'test', '--id', id)).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('ends with 1, and still prints what came of it, when the receiver of a test fails', async () => {
    const { id } = await cli(...create(receiver.url('/failing'), '*'));
    const { code, stdout, stderr } = await run(env, 'webhook', 'test', '--id', id);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ status: 500, error: 'Answered 500' });
  });

  it('lists deliveries by every filter, of an endpoint or of the whole workspace', async () => {
    await cli('workspace', 'create', '--name', 'Filters', '--slug', 'filters', '--plan', 'PRO');
    const make = (path: string) =>
      cli(...['webhook', 'create', '--workspace', 'filters', '--url', receiver.url(path), '--events', '*']);
    const [one, other] = await Promise.all([make('/one'), make('/other')]);
    await cli('webhook', 'test', '--id', one.id);
    await cli('webhook', 'test', '--id', other.id);
    const list = async (...filters: string[]) =>
      (await cli('webhook', 'deliveries', ...filters)).data.map((d: { endpointId: string }) => d.endpointId);

    const ofWorkspace = ['--workspace', 'filters'];
    const whole = ['--event', 'webhook.test', '--status', 'succeeded', '--since', '2026-01-01'];
    const firstPage = await cli('webhook', 'deliveries', ...ofWorkspace, '--limit', '1');
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
      refusal('webhook', 'deliveries'),
      refusal('webhook', 'deliveries', ...ofWorkspace, '--since', 'yesterday'),
    ]);
    expect(neither).toMatchObject({ code: 'INVALID_BODY', details: [{ field: 'id' }] });
    expect(since).toMatchObject({ code: 'INVALID_BODY', message: expect.stringContaining('ISO 8601') });
  });

  it('shows a delivery whole, and delivers it again', async () => {
    const { id } = await cli(...create(receiver.url('/again'), '*'));
    await cli('webhook', 'test', '--id', id);
    const [listed] = (await cli('webhook', 'deliveries', '--id', id)).data;
    const named = ['--workspace', 'acme', '--id', listed.id];

    const whole = await cli('webhook', 'delivery', ...named);
    const ms = expect.any(Number);
    const detail = {
      errorMessage: null,
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

    const again = await cli('webhook', 'redeliver', ...named);
    expect(again).toEqual({ ...whole, status: 'pending', nextAttemptAt: null });
    await cli('webhook', 'deactivate', '--id', id);
    const [inactive, unknown] = await Promise.all([
      refusal('webhook', 'redeliver', ...named),
      refusal('webhook', 'delivery', '--workspace', 'acme', '--id', NOWHERE),
    ]);
    expect(inactive).toMatchObject({ code: 'INVALID_BODY', message: expect.stringContaining('activate') });
    expect(unknown).toMatchObject({ code: 'NOT_FOUND', message: 'Webhook delivery not found.' });
  });

  it('counts what a recovery would deliver, starts it, and follows it', async () => {
    const { id } = await cli(...create(receiver.url('/recovered'), 'message.created'));
    const recover = ['webhook', 'recover', '--id', id, '--since', '2026-01-01T00:00:00Z'];
    const plan = {
      id: null,
      endpointId: id,
      kind: 'missed',
      filter: null,
      since: '2026-01-01T00:00:00.000Z',
      until: MOMENT,
      status: 'dry_run',
      total: 0,
      isTotalComplete: true,
      recovered: 0,
      startedBy: expect.stringMatching(/^operator:/),
      createdAt: MOMENT,
      finishedAt: null,
    };
    expect(await cli(...recover, '--dry-run')).toEqual(plan);
    const started = await cli(...recover);
    expect(started).toEqual({ ...plan, id: UUID, status: 'running' });
    // No worker runs here: it waits for one.
    expect(await cli('webhook', 'recovery', '--id', started.id)).toEqual(started);
    const [second, unknown] = await Promise.all([
      refusal(...recover),
      refusal('webhook', 'recovery', '--id', NOWHERE),
    ]);
    expect(second).toMatchObject({ code: 'INVALID_BODY', message: expect.stringContaining('already') });
    expect(unknown).toMatchObject({ code: 'NOT_FOUND', message: 'Webhook recovery not found.' });
    const cancelled = await cli('webhook', 'cancel-recovery', '--id', started.id);
    expect(cancelled).toEqual({ ...started, status: 'cancelled', finishedAt: MOMENT });
  });

  it('shows how an endpoint fares, and keeps it to a rate', async () => {
    const paced = await cli(...create(receiver.url('/paced'), '*'), '--rate-limit', '5');
    expect(paced).toMatchObject({ rateLimit: 5 });
    expect(await cli('webhook', 'health', '--id', paced.id)).toEqual({
      active: true,
      failingSince: null,
      lastSuccessAt: null,
      last24Hours: { pending: 0, succeeded: 0, exhausted: 0, cancelled: 0 },
      cancelling: null,
    });
    const [none, many] = await Promise.all(
      ['0', '1001'].map((rate) => refusal(...create(receiver.url('/paced'), '*'), '--rate-limit', rate)),
    );
    expect(none).toMatchObject({ code: 'INVALID_BODY', details: [{ field: 'rateLimit' }] });
    expect(many).toMatchObject({ code: 'INVALID_BODY', details: [{ field: 'rateLimit' }] });
  });

  it('rolls a secret, and ends the previous one', async () => {
    const { id, secret: old } = await cli(...create(receiver.url('/rolled'), '*'));
    const roll = ['webhook', 'roll-secret', '--id', id];
    const signedBy = async () => {
      await cli('webhook', 'test', '--id', id);
      const { headers, body } = receiver.received('/rolled').at(-1)!;
      return { secret: (secret: string) => headers['x-service-signature'] === signatureOf(secret, body) };
    };

    const rolled = await cli(...roll, '--grace-period-seconds', '600', '--service-signature', 'previous');
    expect(rolled).toMatchObject({ id, secret: expect.any(String), previousSecretEndsAt: MOMENT });
    expect((await signedBy()).secret(old)).toBe(true);
    const [again, tooLong] = await Promise.all([
      refusal(...roll),
      refusal(...roll, '--grace-period-seconds', '604801'),
    ]);
    expect(again).toMatchObject({ code: 'INVALID_BODY', message: expect.stringContaining('End it first') });
    expect(tooLong).toMatchObject({ code: 'INVALID_BODY', details: [{ field: 'gracePeriodSeconds' }] });

    const ended = await cli('webhook', 'end-secret', '--id', id);
    expect(ended).toMatchObject({ id, previousSecretEndsAt: null });
    expect(ended).not.toHaveProperty('secret');
    expect((await signedBy()).secret(rolled.secret)).toBe(true);
  });

  it('refuses an address that is not https, an event that is none, and a status that is none', async () => {
    const { id } = await cli(...create(receiver.url('/any'), '*'));
    const [http, event, status] = await Promise.all([
      refusal(...create('http://example.com/hook', '*')),
      refusal(...create(receiver.url('/bad'), 'message.deleted')),
      refusal('webhook', 'deliveries', '--id', id, '--status', 'lost'),
    ]);
    expect(http).toMatchObject({ code: 'INVALID_BODY', details: [{ field: 'url' }] });
    expect(event).toMatchObject({ code: 'INVALID_BODY', details: [{ field: 'events' }] });
    expect(status).toMatchObject({ code: 'INVALID_QUERY', details: [{ field: 'status' }] });
  });

  it('re-encrypts the secrets under a new first key, so that the old one can go', async () => {
    const { id, secret } = await cli(...create(receiver.url('/rekeyed'), '*'));
    const reencrypt = () => cliIn({ ...env, SECRETS_KEYS: `${NEW_KEY},${OLD_KEY}` }, 'secrets', 'reencrypt');
    expect((await reencrypt()).reencrypted).toBeGreaterThanOrEqual(1);
    expect(await reencrypt()).toEqual({ reencrypted: 0 });

    await cliIn({ ...env, SECRETS_KEYS: NEW_KEY }, 'webhook', 'test', '--id', id);
    const [webhook] = receiver.received('/rekeyed');
    expect(webhook?.headers['x-service-signature']).toBe(signatureOf(secret, webhook!.body));
  });
});

describe('contact, conversation, message', () => {
  it('plays a conversation through', async () => {
    const inAcme = ['--workspace', 'acme'];
    const [lin, idle, contact] = await Promise.all([
      makeAgent('lin@example.com'),
      makeAgent('idle@example.com', '--inactive'),
      cli('contact', 'create', ...inAcme, '--name', 'Олена', '--phone', '+380 44 123 45 67'),
    ]);
    expect(contact).toMatchObject({ id: UUID, name: 'Олена', email: null, phone: '+380 44 123 45 67' });

    const known = ['contact', 'create', ...inAcme, '--identity', 'widget:user:7'];
    expect(await cli(...known)).toMatchObject({
      identities: [{ channel: 'WIDGET', externalId: 'user:7' }],
    });
    expect(await refusal(...known)).toMatchObject({
      code: 'INVALID_BODY',
      message: expect.stringMatching(/^identity is that of the contact .+\.$/),
    });

    const { id, ...opened } = await cli(
      ...['conversation', 'create', ...inAcme, '--contact', contact.id, '--channel', 'TELEGRAM'],
    );
    expect(opened).toMatchObject({ sourceChannel: 'TELEGRAM', status: 'OPEN', contact: { id: contact.id } });

    const received = await cli('message', 'receive', '--conversation', id, '--body', 'Where is it? 🎈');
    expect(received).toMatchObject({ id: UUID, senderType: 'CUSTOMER', body: 'Where is it? 🎈' });

    const reply = ['message', 'send', '--conversation', id, '--body', 'On its way.', '--agent'];
    expect(await cli(...reply, lin.id)).toEqual({
      id: UUID,
      senderType: 'AGENT',
      senderAgentId: lin.id,
      body: 'On its way.',
      createdAt: MOMENT,
      delivery: { status: 'QUEUED', error: null },
    });

    const update = ['conversation', 'update', '--id', id, '--agent'];
    expect(await cli(...update, lin.id, '--status', 'CLOSED', '--assign', lin.id)).toMatchObject({
      id,
      status: 'CLOSED',
      assignedAgentId: lin.id,
      lastMessagePreview: 'On its way.',
    });
    expect(await cli(...update, lin.id, '--assign', 'none')).toMatchObject({
      status: 'CLOSED',
      assignedAgentId: null,
    });
    expect(await actorsOf(id)).toEqual([`agent ${lin.id}`]);
    const inItsName = ['audit', 'list', ...inAcme, '--actor', lin.id, '--entity-id', id, '--limit', '1'];
    expect((await cli(...inItsName)).data).toMatchObject([
      { action: 'conversation.assigned', userAgent: `CLI, operator:${userInfo().username}` },
    ]);

    const [idleReply, idleUpdate, nowhere] = await Promise.all([
      refusal(...reply, idle.id),
      refusal(...update, idle.id, '--status', 'OPEN'),
      refusal('message', 'receive', '--conversation', NOWHERE, '--body', 'Hello?'),
    ]);
    expect(idleReply).toMatchObject({ code: 'INVALID_BODY', details: [{ field: 'senderAgentId' }] });
    expect(idleUpdate).toMatchObject({ code: 'INVALID_BODY', details: [{ field: 'agent' }] });
    expect(nowhere).toMatchObject({ code: 'NOT_FOUND', message: 'Conversation not found.' });
  });

  /** Who did what the audit log has of a conversation. */
  async function actorsOf(conversationId: string): Promise<string[]> {
    const rows = await query<{ actor: string }>(
      stores.databaseUrl,
      `SELECT DISTINCT concat_ws(' ', actor_type, actor_id) AS actor FROM audit_entries WHERE entity_id = $1`,
      [conversationId],
    );
    return rows.map(({ actor }) => actor);
  }
});

describe('audit', () => {
  it('lists who did what, by the operator’s name, page by page', async () => {
    const ofKeys = ['audit', 'list', '--workspace', 'acme', '--entity', 'api_key'];
    const create = ['api-key', 'create', '--workspace', 'acme', '--scopes', 'contacts:read', '--name'];
    const before = new Date().toISOString();
    const [byUser, byOption, byVariable] = [
      await cli(...create, 'a'),
      await cli('--operator', 'Zoë', ...create, 'b'),
      await cliIn({ ...env, OPERATOR: 'lin' }, ...create, 'c'),
    ];
    const revoked = await cli('api-key', 'revoke', '--id', byUser.id, '--operator', 'lin');

    const since = ['--since', before];
    const { data, nextCursor } = await cli(...ofKeys, ...since);
    expect(nextCursor).toBeNull();
    expect(data).toMatchObject([
      { action: 'api_key.revoked', entityId: revoked.id, actorType: 'operator', actorName: 'lin' },
      { action: 'api_key.created', entityId: byVariable.id, actorName: 'lin', after: { name: 'c' } },
      { action: 'api_key.created', entityId: byOption.id, actorName: 'Zoë' },
      { action: 'api_key.created', entityId: byUser.id, actorName: userInfo().username },
    ]);
    const byLin = [...ofKeys, ...since, '--actor', 'operator:lin', '--limit', '1'];
    const first = await cli(...byLin);
    expect(first.data).toEqual([data[0]]);
    expect(await cli(...byLin, '--cursor', first.nextCursor)).toEqual({ data: [data[1]], nextCursor: null });
    expect(await refusal(...ofKeys, '--limit', '0')).toMatchObject({ code: 'INVALID_QUERY' });
    expect(await refusal('--operator', ' ', ...create, 'd')).toMatchObject({
      code: 'INVALID_BODY',
      details: [{ field: 'actor' }],
    });
  });
});

describe('the data of a contact', () => {
  it('is exported to stdout or to a new file, and erased', async () => {
    const known = ['--workspace', 'acme', '--id'];
    const { id } = await cli(
      'contact',
      'create',
      '--workspace',
      'acme',
      '--name',
      'Zoë',
      '--identity',
      'widget:8',
    );
    const { id: conversation } = await cli(
      ...['conversation', 'create', '--workspace', 'acme', '--contact', id, '--channel', 'widget'],
    );
    await cli('message', 'receive', '--conversation', conversation, '--body', 'Hello?');

    const { stdout } = await run(env, 'contact', 'export', ...known, id);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(lines).toMatchObject([
      { type: 'contact', id, name: 'Zoë' },
      { type: 'identity', channel: 'WIDGET', externalId: '8' },
      { type: 'conversation', id: conversation },
      { type: 'message', conversationId: conversation, body: 'Hello?' },
    ]);
    const file = join(folder, 'zoe.jsonl');
    expect(await run(env, 'contact', 'export', ...known, id, '--output', file)).toMatchObject({
      code: 0,
      stdout: '',
    });
    expect(readFileSync(file, 'utf8')).toBe(stdout);
    expect(await run(env, 'contact', 'export', ...known, id, '--output', file)).toMatchObject({ code: 1 });

    const erasure = await cli('contact', 'erase', ...known, id);
    expect(erasure).toMatchObject({
      id: UUID,
      contactId: id,
      status: 'running',
      messages: 0,
      finishedAt: null,
    });
    expect(await cli('contact', 'erasure', ...known, erasure.id)).toEqual(erasure);
  });
});

describe('migrate', () => {
  it('goes up, all the way down, and up again, with two at once and Redis away', async () => {
    const empty = { ...stores, ...(await createEmptyDatabase()) };
    const { databaseUrl, databaseAdminUrl } = empty;
    const migrateEnv = {
      ...env,
      ...ownerOf(empty),
      DATABASE_URL: databaseUrl,
      REDIS_URL: 'redis://127.0.0.1:1',
    };
    const migrate = (...args: string[]) => cliIn(migrateEnv, 'migrate', ...args);
    try {
      expect(await refusalIn(migrateEnv, 'api-key', 'list', '--workspace', 'x')).toMatchObject({
        code: 'UNAVAILABLE',
        message: expect.stringContaining('run "migrate" first'),
      });

      const both = await Promise.all([migrate(), migrate()]);
      const applied = both.flatMap(({ migrations }) => migrations as string[]);
      expect(applied.length).toBeGreaterThanOrEqual(4);
      expect(new Set(applied).size).toBe(applied.length);
      const schema = await schemaOf(databaseAdminUrl);

      const takenBack: string[] = [];
      while (takenBack.length < applied.length) {
        const { direction, migrations } = await migrate('--down');
        expect({ direction, count: migrations.length }).toEqual({ direction: 'down', count: 1 });
        takenBack.push(...migrations);
      }
      expect(takenBack).toEqual([...applied].reverse());
      expect(await migrate('--down')).toEqual({ direction: 'down', migrations: [] });
      expect((await schemaOf(databaseAdminUrl)).filter((line) => !line.includes('migrations'))).toEqual([]);

      expect(await migrate()).toEqual({ direction: 'up', migrations: applied });
      expect(await schemaOf(databaseAdminUrl)).toEqual(schema);
    } finally {
      await dropStores(empty);
    }
  });
});

describe('channel', () => {
  let telegram: TelegramSimulator;
  const botToken = TelegramSimulator.token();

  beforeAll(async () => {
    telegram = await new TelegramSimulator().start();
    env = { ...env, TELEGRAM_API_URL: telegram.url, PUBLIC_URL: 'https://chat.example' };
    await cli('workspace', 'create', '--name', 'Talks', '--slug', 'talks', '--plan', 'PRO');
  });
  afterAll(() => telegram.stop());

  const connect = ['channel', 'connect', '--workspace', 'talks', '--channel', 'telegram', '--credentials'];

  it('connects an account, lists it, rotates and disconnects it', async () => {
    writeFileSync(join(folder, 'bot.json'), JSON.stringify({ botToken }));
    const { reveal, ...connected } = await cli(...connect, '@bot.json');
    expect(connected).toEqual({
      id: UUID,
      channel: 'TELEGRAM',
      externalId: botToken.split(':')[0],
      status: 'ACTIVE',
      hookUrl: telegram.webhooks.get(botToken)!.url,
      snippet: null,
      settings: {},
      credentialsExpireAt: null,
      createdAt: MOMENT,
      updatedAt: MOMENT,
    });
    expect(reveal).toEqual({});
    expect(await cli('channel', 'list', '--workspace', 'talks')).toEqual({ data: [connected] });

    const { id } = connected;
    const rotated = await cli('channel', 'rotate', '--id', id, '--credentials', JSON.stringify({ botToken }));
    expect(rotated).toEqual({ ...connected, reveal: {}, updatedAt: MOMENT });

    const disconnected = await cli('channel', 'disconnect', '--id', id);
    expect(disconnected).toMatchObject({ id, status: 'DISCONNECTED', providerFault: null });
    expect(telegram.webhooks.has(botToken)).toBe(false);
    expect(await cli('channel', 'list', '--workspace', 'talks')).toEqual({ data: [] });
    expect(await refusal('channel', 'disconnect', '--id', id)).toMatchObject({
      code: 'NOT_FOUND',
      message: 'This channel connection is DISCONNECTED: connect the account anew.',
    });
  });

  it("prints the snippet for a workspace's pages with a widget", async () => {
    const credentials = JSON.stringify({ allowedOrigins: ['https://shop.example'] });
    const widget = ['--workspace', 'talks', '--channel', 'WIDGET', '--credentials', credentials];
    const { reveal, ...connected } = await cli('channel', 'connect', ...widget);
    const siteKey = (connected.hookUrl as string).split('/').at(-1);
    expect(connected.snippet).toBe(
      `<script async src="https://chat.example/widget/v1.js" data-site-key="${siteKey}"></script>`,
    );
    expect(reveal).toEqual({ identitySecret: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(await cli('channel', 'list', '--workspace', 'talks')).toEqual({ data: [connected] });
    await cli('channel', 'disconnect', '--id', connected.id as string);
  });

  it('reads credentials from stdin, too', async () => {
    const { code, stderr } = await runWith('{"botToken":"secret"}', env, ...connect, '-');
    expect({ code, error: JSON.parse(stderr).error }).toMatchObject({
      code: 1,
      error: { code: 'INVALID_BODY', details: [{ field: 'botToken' }] },
    });
    expect(stderr).not.toContain('secret');
  });

  it.each([
    [
      'no JSON',
      '{"botToken":"secret',
      'credentials must be a JSON object, @file or -; the argument is no JSON at position 19.',
    ],
    [
      'the name of a file',
      'secret',
      'credentials must be a JSON object, @file or -; the argument is no JSON.',
    ],
    ['no object', '["secret"]', 'credentials must be a JSON object, and the argument is another value.'],
    ['a file that is not there', '@absent.json', 'credentials cannot be read: the file absent.json: ENOENT.'],
    ['JSON after an @', '@{"botToken":"secret"}', 'credentials cannot be read: the file: ENOENT.'],
  ])('refuses credentials that are %s, without repeating them', async (_, given, message) => {
    const error = await refusal(...connect, given);
    expect(error).toMatchObject({ code: 'INVALID_BODY', message });
    expect(JSON.stringify(error)).not.toContain('secret');
  });

  it('finds no connection with an id that is unknown', async () => {
    expect(await refusal('channel', 'disconnect', '--id', NOWHERE)).toMatchObject({
      code: 'NOT_FOUND',
      message: 'Channel connection not found.',
    });
  });
});

describe('login', () => {
  it('begins with an invitation, and is listed, reset and ended by the operator', async () => {
    await cli('workspace', 'create', '--name', 'Logins', '--slug', 'logins', '--plan', 'PRO');
    const agent = await cli(
      ...['agent', 'create', '--workspace', 'logins', '--name', 'Ada', '--email', 'Ada@logins.example'],
      ...['--role', 'OWNER'],
    );
    const sent = await cli('agent', 'invite', '--workspace', 'logins', '--agent', agent.id);
    expect(sent).toEqual({
      invitation: expect.objectContaining({ agentId: agent.id, email: 'Ada@logins.example', role: 'OWNER' }),
      isMailed: false,
      link: expect.stringMatching(/^http:\/\/localhost:3000\/welcome#[A-Za-z0-9_-]{64}$/),
      expiresAt: MOMENT,
    });
    expect(await cli('login', 'list', '--workspace', 'logins')).toEqual({ data: [] });

    const dashboard = await Dashboard.create({ beside: { stores } });
    try {
      const token = tokenOf(sent.link);
      const accepted = await dashboard.get(LinksService).accept(token, { password: PASSWORD });
      const { sessionId } = accepted as LoggedIn;
      expect(await cli('login', 'list', '--workspace', 'logins')).toEqual({
        data: [
          {
            agentId: agent.id,
            email: 'ada@logins.example',
            role: 'OWNER',
            active: true,
            hasSecondFactor: false,
            lastLoggedInAt: MOMENT,
          },
        ],
      });
      const ofAda = ['--email', 'ada@Logins.example'];
      expect(await cli('login', 'sessions', ...ofAda)).toMatchObject({ data: [{ id: sessionId }] });
      expect(await cli('login', 'revoke', ...ofAda, '--session', sessionId)).toEqual({ revoked: 1 });
      expect(await cli('login', 'revoke', ...ofAda)).toEqual({ revoked: 0 });
      expect(await cli('login', 'end-factor', ...ofAda)).toEqual({ turnedOff: false });
      const reset = await cli('login', 'reset', ...ofAda);
      expect(reset).toEqual({ isMailed: false, link: expect.stringContaining('/reset#'), expiresAt: MOMENT });
      await dashboard.get(LinksService).accept(tokenOf(reset.link), { password: OTHER_PASSWORD });
    } finally {
      await dashboard.close();
    }
  });

  it('is not found by another e-mail address, and no agent of another id is invited', async () => {
    for (const command of ['reset', 'end-factor', 'sessions', 'revoke'])
      expect(await refusal('login', command, '--email', 'nobody@example.com')).toMatchObject({
        code: 'NOT_FOUND',
        message: 'Login not found.',
      });
    expect(await refusal('agent', 'invite', '--workspace', 'acme', '--agent', NOWHERE)).toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});

describe('the door itself', () => {
  it('has these commands, each with a description and an example', () => {
    const commands = leavesOf(buildProgram());
    expect(commands.map(({ path }) => path)).toEqual([
      'migrate',
      'workspace create',
      'workspace list',
      'workspace update',
      'workspace suspend',
      'workspace resume',
      'workspace cancel-deletion',
      'workspace delete',
      'workspace deletion',
      'workspace deletions',
      'agent create',
      'agent list',
      'agent update',
      'agent invite',
      'login list',
      'login reset',
      'login end-factor',
      'login sessions',
      'login revoke',
      'api-key create',
      'api-key list',
      'api-key revoke',
      'api-key revoke-all',
      'webhook create',
      'webhook list',
      'webhook activate',
      'webhook deactivate',
      'webhook delete',
      'webhook test',
      'webhook roll-secret',
      'webhook end-secret',
      'webhook deliveries',
      'webhook delivery',
      'webhook redeliver',
      'webhook recover',
      'webhook recovery',
      'webhook cancel-recovery',
      'webhook health',
      'channel connect',
      'channel list',
      'channel rotate',
      'channel disconnect',
      'contact create',
      'contact erase',
      'contact erasure',
      'contact export',
      'conversation create',
      'conversation update',
      'message receive',
      'message send',
      'audit list',
      'audit export',
      'outbox parked',
      'outbox retry',
      'outbox give-up',
      'secrets reencrypt',
    ]);
    for (const { command } of commands) {
      expect(command.description()).toMatch(/\.$/);
      expect(fullHelpOf(command)).toMatch(/Examples?:\n {2}(.* )?node dist\/cli\.js/);
    }
  });

  it('prints help on stdout and succeeds', async () => {
    const [all, one] = await Promise.all([run({}, '--help'), run({}, 'webhook', 'create', '--help')]);
    expect(all).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('Usage:') });
    expect(one).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('--events <list>') });
  });

  it.each([
    [['fly'], "unknown command 'fly'"],
    [['webhook'], 'A command is missing: see --help.'],
    [['api-key', 'revoke'], "required option '--id <id>' not specified"],
    [['migrate', '--sideways'], "unknown option '--sideways'"],
    [['migrate', 'now'], expect.stringContaining('too many arguments')],
    [
      ['agent', 'update', '--id', NOWHERE, '--active', 'maybe'],
      expect.stringContaining('Give true or false.'),
    ],
    [['workspace', 'update', '--slug', 's', '--rate-limit', '1.5'], expect.stringContaining('whole number')],
    [['workspace', 'update', '--slug', 's', '--trial-ends-at', 'soon'], expect.stringContaining('ISO 8601')],
    [
      ['workspace', 'update', '--slug', 's'],
      'Nothing to change: give at least one of --plan, --trial-ends-at, --rate-limit, --message-retention-days, --entitlements.',
    ],
    [
      ['agent', 'update', '--id', NOWHERE],
      'Nothing to change: give at least one of --display-name, --no-display-name, --role, --active.',
    ],
    [
      ['conversation', 'update', '--id', NOWHERE, '--agent', NOWHERE],
      'Nothing to change: give at least one of --status, --assign.',
    ],
  ])('refuses %j with the error body', async (args, message) => {
    expect(await refusalIn({}, ...args)).toEqual({ code: 'INVALID_BODY', message, requestId: null });
  });

  it('joins the embedded servers of its folder, and without them says how to start them', async () => {
    const list = ['api-key', 'list', '--workspace', 'nobody'];
    expect(await refusalIn({}, ...list)).toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('npm start'),
    });
    mkdirSync(join(folder, '.data'), { recursive: true });
    writeFileSync(join(folder, '.data', 'servers.json'), JSON.stringify(stores));
    expect(await refusalIn({}, ...list)).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('says at once that the database is away, and names every fault of the configuration', async () => {
    const list = ['api-key', 'list', '--workspace', 'x'];
    const away = new URL(stores.databaseUrl);
    away.port = '1';
    expect(await refusalIn({ ...env, DATABASE_URL: away.href }, ...list)).toEqual({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/^The database does not answer: .*ECONNREFUSED/),
      requestId: null,
    });
    const faulty = { ...env, SECRETS_KEYS: 'short', WEBHOOK_ALLOWED_NETWORKS: 'home' };
    expect(await refusalIn(faulty, ...list)).toMatchObject({
      code: 'INTERNAL',
      message: expect.stringMatching(/2 fault.*SECRETS_KEYS.*WEBHOOK_ALLOWED_NETWORKS/s),
    });
  });

  it('works while Redis is away', async () => {
    const created = await cliIn(
      { ...env, REDIS_URL: 'redis://127.0.0.1:1' },
      ...['workspace', 'create', '--name', 'No Redis', '--slug', 'no-redis', '--plan', 'PRO'],
    );
    expect(created).toMatchObject({ slug: 'no-redis' });
  });
});

/** Runs the built CLI as a process of its own, with nothing in its environment but this. */
function run(environment: Record<string, string>, ...args: string[]): Promise<CommandResult> {
  return runWith('', environment, ...args);
}

/** The same, with something on stdin. */
function runWith(
  stdin: string,
  environment: Record<string, string>,
  ...args: string[]
): Promise<CommandResult> {
  const options = { cwd: folder, env: { PATH: process.env.PATH, NODE_ENV: 'test', ...environment } };
  return new Promise((done) => {
    const child = execFile(process.execPath, [CLI, ...args], options, (error, stdout, stderr) =>
      done({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
    child.stdin!.end(stdin);
  });
}

/** The one JSON object that a command prints. */
function cli(...args: string[]): Promise<any> {
  return printed(args, warm.run(env, ...args));
}

/** The same, by a process of its own. */
function cliIn(environment: Record<string, string>, ...args: string[]): Promise<any> {
  return printed(args, run(environment, ...args));
}

async function printed(args: string[], result: Promise<CommandResult>): Promise<any> {
  const { code, stdout, stderr } = await result;
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  expect(stdout.trimEnd().split('\n')).toHaveLength(1);
  return JSON.parse(stdout);
}

/** The error that a command ends with. */
function refusal(...args: string[]): Promise<any> {
  return refused(args, warm.run(env, ...args));
}

/** The same, by a process of its own. */
function refusalIn(environment: Record<string, string>, ...args: string[]): Promise<any> {
  return refused(args, run(environment, ...args));
}

async function refused(args: string[], result: Promise<CommandResult>): Promise<any> {
  const { code, stdout, stderr } = await result;
  expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' });
  const { error, ...rest } = JSON.parse(stderr);
  expect(rest).toEqual({});
  return error;
}

function makeAgent(email: string, ...flags: string[]): Promise<any> {
  const named = ['--workspace', 'acme', '--name', 'Lin', '--email', email, '--role', 'AGENT'];
  return cli('agent', 'create', ...named, ...flags);
}

function signatureOf(secret: string, body: Buffer): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

function leavesOf(command: Command, path = ''): { path: string; command: Command }[] {
  return command.commands.flatMap((child) => {
    const childPath = `${path} ${child.name()}`.trim();
    return child.commands.length > 0 ? leavesOf(child, childPath) : [{ path: childPath, command: child }];
  });
}

/** As it is printed: with the examples after the options. */
function fullHelpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  return text;
}

async function query<Row>(databaseUrl: string, sql: string, parameters: unknown[] = []): Promise<Row[]> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query(sql, parameters)).rows as Row[];
  } finally {
    await client.end();
  }
}

/** Every column, constraint, index and function that is ours, a line each. */
async function schemaOf(databaseUrl: string): Promise<string[]> {
  const rows = await query<{ line: string }>(
    databaseUrl,
    `SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default) AS line
       FROM information_schema.columns WHERE table_schema = 'public'
     UNION ALL
     SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint
       WHERE connamespace = 'public'::regnamespace
     UNION ALL
     SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
     UNION ALL
     SELECT concat_ws(' ', 'function', proname) FROM pg_proc p WHERE pronamespace = 'public'::regnamespace
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
     ORDER BY line`,
  );
  return rows.map(({ line }) => line);
}
