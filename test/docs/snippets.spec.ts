import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, Server } from 'node:https';
import { AddressInfo } from 'node:net';
import { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { WebhookVerificationError } from 'standardwebhooks';
import { generateVAPIDKeys } from 'web-push';
import { Attention } from '../../examples/alerts';
import { DashboardModule, IntegrationSettings } from '../../examples/dashboard.module';
import { ComingIn } from '../../examples/logins';
import { openWebhook } from '../../examples/verify-standard-webhook';
import { isGenuine } from '../../examples/verify-webhook';
import { webhookReceiver } from '../../examples/webhook-receiver';
import {
  type Actor,
  AgentsService,
  AlertMailChoicesService,
  AlertsService,
  isEventType,
  NoticeChoicesService,
  SYSTEM,
  WebhookEndpointsService,
  WorkspacesService,
} from '../../src/index';
import { AddressPolicy } from '../../src/outgoing/address-policy';
import { AttemptOutcome } from '../../src/webhooks/sending/attempt-outcome';
import { DeliverySender } from '../../src/webhooks/sending/delivery-sender';
import { generateEndpointSecret } from '../../src/webhooks/sending/signature';
import { HttpsReceiver, ReceivedRequest } from '../support/https-receiver';
import { describeWithPython, runPython } from '../support/python';

import { LoggedIn } from '../../src/logins/sessions/session.dto';
import { LoginsService } from '../../src/logins/logins.service';
import { PasswordsService } from '../../src/logins/passwords/passwords.service';
import { PushAddressesService } from '../../src/notices/push/push-addresses.service';
import { MessagingHost } from '../support/messaging-host';
import { PushService } from '../support/push-service';
import { expectRefusal } from '../support/errors';
import { Logins, OTHER_PASSWORD, PASSWORD } from '../support/logins';
import { createStores, dropStores, setting, TestStores } from '../support/test-database';

/** Tests of the examples in docs/, run against real deliveries. They need python3. */

const secret = generateEndpointSecret();
const data = {
  conversationId: 'conversation-1',
  message: {
    id: 'message-1',
    body: 'Zoë 漢字 📦',
    senderType: 'AGENT',
    createdAt: '2026-11-20T09:41:07.512Z',
  },
};

const certificate = () => ({
  cert: readFileSync(setting('TEST_CERT_FILE'), 'utf8'),
  key: readFileSync(setting('TEST_KEY_FILE'), 'utf8'),
});

let sender: DeliverySender;
beforeAll(() => {
  const extraCa = readFileSync(setting('TEST_CA_FILE'), 'utf8');
  sender = new DeliverySender({ policy: new AddressPolicy(['127.0.0.1/32']), extraCa });
});
afterAll(() => sender.close());

interface Webhook {
  eventType?: string;
  data?: object;
  signedWith?: string;
}

/** Sends a webhook to a local port, with the code that sends all webhooks. */
function send(
  port: number,
  { eventType = 'message.created', data: content = data, signedWith = secret }: Webhook = {},
): Promise<AttemptOutcome> {
  return sender.send({
    deliveryId: 'delivery-1',
    url: `https://127.0.0.1:${port}/webhooks`,
    secret: signedWith,
    eventType,
    data: JSON.stringify(content),
    sequence: '1',
  });
}

/** Returns a webhook that was really sent, as it arrived. */
async function receiveOne(): Promise<ReceivedRequest> {
  const receiver = await HttpsReceiver.start(certificate());
  try {
    expect(await send(receiver.port)).toMatchObject({ kind: 'succeeded' });
    return receiver.lastRequest;
  } finally {
    await receiver.stop();
  }
}

let webhook: ReceivedRequest;
beforeAll(async () => {
  webhook = await receiveOne();
});

interface Case {
  name: string;
  body: Buffer;
  signature: string | undefined;
  secret: string;
  isGenuine: boolean;
}

/** Returns cases that a check of `x-service-signature` has to accept or to refuse. */
function cases(): Case[] {
  const { body } = webhook;
  const signature = webhook.headers['x-service-signature'] as string;
  const genuine = { body, signature, secret };
  const altered = Buffer.from(body);
  altered[altered.length - 3]! ^= 1;
  const reserialized = Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 1));
  return [
    { name: 'the webhook as it came', ...genuine, isGenuine: true },
    { name: 'an altered body', ...genuine, body: altered, isGenuine: false },
    { name: 'a body written anew', ...genuine, body: reserialized, isGenuine: false },
    { name: 'an empty body', ...genuine, body: Buffer.alloc(0), isGenuine: false },
    { name: "another endpoint's secret", ...genuine, secret: generateEndpointSecret(), isGenuine: false },
    { name: 'the secret without its prefix', ...genuine, secret: secret.slice(6), isGenuine: false },
    ...[
      undefined,
      '',
      'sha256=',
      'sha256=zz',
      signature.slice(0, -1),
      `${signature}0`,
      signature.replace('sha256=', 'sha1='),
      signature.replace('sha256=', ''),
      `sha256=${'é'.repeat(64)}`,
    ].map((malformed) => ({
      name: `the header ${malformed}`,
      ...genuine,
      signature: malformed,
      isGenuine: false,
    })),
  ];
}

const verdicts = (checked: { name: string; isGenuine: boolean }[]) =>
  Object.fromEntries(checked.map((one) => [one.name, one.isGenuine]));

describe('examples/verify-webhook.ts', () => {
  it('accepts what the service has signed, and nothing else', () => {
    const checked = cases().map(({ name, body, signature, secret: key }) => ({
      name,
      isGenuine: isGenuine(body, signature, key),
    }));
    expect(verdicts(checked)).toEqual(verdicts(cases()));
  });
});

describeWithPython('examples/verify_webhook.py', () => {
  it('accepts what the service has signed, and nothing else', () => {
    const program = `
import base64, json, sys
from verify_webhook import is_genuine
print(json.dumps([
    {"name": c["name"], "isGenuine": is_genuine(base64.b64decode(c["body"]), c["signature"], c["secret"])}
    for c in json.load(sys.stdin)
]))`;
    const input = cases().map(({ name, body, signature = null, secret: key }) => ({
      name,
      body: body.toString('base64'),
      signature,
      secret: key,
    }));
    const checked = runPython<{ name: string; isGenuine: boolean }[]>(program, 'examples', input);
    expect(verdicts(checked)).toEqual(verdicts(cases()));
  });
});

describe('examples/verify-standard-webhook.ts', () => {
  it('opens what the service has signed', () => {
    expect(openWebhook(webhook.body, webhook.headers, secret)).toEqual({
      event: 'message.created',
      deliveredAt: expect.any(String),
      data,
    });
  });

  it.each([
    [
      'an altered body',
      () => openWebhook(Buffer.from(`${webhook.body.toString()} `), webhook.headers, secret),
    ],
    ["another endpoint's secret", () => openWebhook(webhook.body, webhook.headers, generateEndpointSecret())],
    ['another id', () => openWebhook(webhook.body, { ...webhook.headers, 'webhook-id': 'another' }, secret)],
    [
      'a malformed signature',
      () => openWebhook(webhook.body, { ...webhook.headers, 'webhook-signature': 'v1' }, secret),
    ],
    ['no headers', () => openWebhook(webhook.body, {}, secret)],
  ])('refuses %s', (_, open) => {
    expect(open).toThrow(WebhookVerificationError);
  });
});

describe('examples/webhook-receiver.ts', () => {
  const arrived: unknown[] = [];
  let server: Server;
  let port: number;

  beforeAll(async () => {
    server = createServer(
      certificate(),
      webhookReceiver(secret, (created) => arrived.push(created)),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => arrived.splice(0));

  it('hands on a message once, however often its webhook comes', async () => {
    const created = { ...data, message: { ...data.message, id: 'message-2' } };
    expect(await send(port, { data: created })).toMatchObject({ statusCode: 204 });
    expect(await send(port, { data: created })).toMatchObject({ statusCode: 204 });
    expect(arrived).toEqual([created]);
  });

  it('refuses a webhook that is signed with another secret', async () => {
    expect(await send(port, { signedWith: generateEndpointSecret() })).toMatchObject({ statusCode: 401 });
    expect(arrived).toEqual([]);
  });

  it('accepts an event that it does not know', async () => {
    const eventType = 'parcel.shipped';
    expect(isEventType(eventType)).toBe(false);
    expect(await send(port, { eventType, data: {} })).toMatchObject({ statusCode: 204 });
    expect(arrived).toEqual([]);
  });
});

describe('examples/dashboard.module.ts', () => {
  let stores: TestStores;
  let host: INestApplicationContext;

  beforeAll(async () => {
    stores = await createStores();
    Object.assign(process.env, {
      DATABASE_URL: stores.databaseUrl,
      REDIS_URL: stores.redisUrl,
      SECRETS_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
    });
    host = await NestFactory.createApplicationContext(DashboardModule, {
      logger: false,
      abortOnError: false,
    });
  });
  afterAll(async () => {
    await host.close();
    await dropStores(stores);
  });

  it('creates a key and an endpoint in the name of an agent', async () => {
    const strict = { strict: false };
    const workspace = await host
      .get(WorkspacesService, strict)
      .create({ name: 'Acme', slug: 'acme', planTier: 'PRO' });
    const agent = await host
      .get(AgentsService, strict)
      .create(workspace.id, { name: 'Ada', email: 'ada@example.com', role: 'OWNER' }, SYSTEM);

    const settings = host.get(IntegrationSettings);
    const { key } = await settings.createKey(workspace.id, agent.id);
    expect(key).toMatch(/^plk_\w{40}$/);
    // No request is sent there: the host runs no worker.
    const url = 'https://1.1.1.1/webhooks';
    const endpoint = await settings.createEndpoint(workspace.id, agent.id, url);
    expect(endpoint.secret).toMatch(/^whsec_/);
    expect(await host.get(WebhookEndpointsService, strict).list(workspace.id, SYSTEM)).toMatchObject([
      { id: endpoint.id, url, events: ['*'], active: true },
    ]);
  });
});

describe('examples/logins.ts', () => {
  let host: MessagingHost;

  beforeAll(async () => {
    host = await MessagingHost.create();
  });
  afterAll(() => host.close());

  it('logs in, knows who asks and changes a password', async () => {
    const logins = new Logins(host);
    const workspace = await host.make.workspace();
    const { agent, email, browserToken } = await logins.member(workspace);
    const example = new ComingIn(host.get(LoginsService), host.get(PasswordsService));
    const origin = logins.origin();
    const { token } = (await example.logIn(email, PASSWORD, browserToken!, origin)) as LoggedIn;
    expect(await example.actorIn(workspace.id, token, origin)).toEqual({
      type: 'agent',
      id: agent.id,
      origin,
    });
    const other = await host.make.workspace();
    await expectRefusal(example.actorIn(other.id, token, origin), 'NOT_FOUND');
    const renewed = await example.changePassword(token, PASSWORD, OTHER_PASSWORD, origin);
    await expectRefusal(example.actorIn(workspace.id, token, origin), 'UNAUTHENTICATED');
    expect(await example.actorIn(workspace.id, renewed, origin)).toMatchObject({ id: agent.id });
  });
});

describe('examples/alerts.ts', () => {
  let host: MessagingHost;

  beforeAll(async () => {
    const { publicKey, privateKey } = generateVAPIDKeys();
    host = await MessagingHost.create({
      vapidPublicKey: publicKey,
      vapidPrivateKey: privateKey,
      vapidContact: 'mailto:ops@example.com',
    });
  });
  afterAll(() => host.close());

  it('shows open alerts, mutes mails about a kind and turns notices on', async () => {
    const logins = new Logins(host);
    const workspace = await host.make.workspace();
    const { agent, holder } = await logins.member(workspace, { role: 'OWNER' });
    const actor: Actor = { type: 'agent', id: agent.id };
    const addresses = host.get(PushAddressesService);
    const example = new Attention(
      host.get(AlertsService),
      host.get(AlertMailChoicesService),
      host.get(NoticeChoicesService),
      addresses,
    );
    expect(await example.showAlerts(workspace.id, actor)).toEqual({ newest: [], count: 0 });
    await host.query(
      `INSERT INTO alerts (tenant_id, id, kind, subject_id, opened_at, resolved_at) VALUES
         ($1, gen_random_uuid(), 'TRIAL_ENDING', $1, now(), NULL),
         ($1, gen_random_uuid(), 'FILES_NEARLY_FULL', $1, now(), now())`,
      [workspace.id],
    );
    expect(await example.showAlerts(workspace.id, actor)).toMatchObject({
      newest: [{ kind: 'TRIAL_ENDING', subjectId: workspace.id }],
      count: 1,
    });
    await example.muteAlertMails(workspace.id, actor, 'TRIAL_ENDING');
    expect(await example.muteAlertMails(workspace.id, actor, 'KEY_ENDING')).toMatchObject({
      isOn: true,
      mutedKinds: ['TRIAL_ENDING', 'KEY_ENDING'],
    });
    const push = await PushService.start();
    expect(await example.turnNoticesOn(workspace.id, actor, holder, push.subscribe())).toMatchObject({
      mailMatters: ['MINE'],
      pushMatters: ['MINE'],
      canPush: true,
    });
    expect(await addresses.getState(holder)).toMatchObject({ isOn: true });
  });
});
