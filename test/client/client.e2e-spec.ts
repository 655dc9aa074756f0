import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { resolve } from 'node:path';
import {
  ApiError,
  ERROR_CLASSES,
  ForbiddenError,
  IdempotencyConflictError,
  InvalidBodyError,
  MessagingClient,
  NotFoundError,
  type OperationId,
  UnauthenticatedError,
  type WebhookEvent,
  webhooks,
} from '@conversation-messaging/client';
import axios from 'axios';
import { generateTypes } from '../../client/generated-types.mjs';
import { type ScriptedAnswer, ScriptedFetch } from '../../client/test/scripted-fetch';
import signatures from '../../client/vectors/signatures.json';
import { API_ERROR_STATUS } from '../../src/common/app-error';
import { serviceSignature, standardSignature } from '../../src/webhooks/sending/signature';
import { HttpsReceiver } from '../support/https-receiver';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { setting } from '../support/test-database';
import { waitFor } from '../support/wait';

const ROOT = resolve(__dirname, '../..');
const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const ID = '019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11';

/** Calls of each operation of the API. The compiler asks for every one. */
const CALLS: Record<OperationId, (client: MessagingClient) => Promise<unknown>> = {
  getMe: (client) => client.me(),
  listConversations: (client) => client.conversations.list({ status: 'OPEN' }).page(),
  getConversation: (client) => client.conversations.get(ID),
  createConversation: (client) => client.conversations.create({ contactId: ID, channel: 'WIDGET' }),
  updateConversation: (client) => client.conversations.update(ID, { status: 'CLOSED' }),
  listMessages: (client) => client.messages.list(ID).page(),
  sendMessage: async (client) => ({ message: await client.messages.send(ID, { body: 'Hello' }) }),
  searchMessages: (client) => client.messages.search({ q: 'parcel' }).page(),
  createUpload: (client) => client.uploads.create({ conversationId: ID, name: 'a.txt', size: 1 }),
  putUploadContent: (client) => client.uploads.putContent(ID, new Uint8Array(1)),
  getUpload: (client) => client.uploads.get(ID),
  deleteUpload: (client) => client.uploads.delete(ID),
  uploadFile: (client) =>
    client.attachments.uploadFile({ conversationId: ID, name: 'a.txt', file: new Blob(['x']) }),
  getAttachment: (client) => client.attachments.get(ID),
  retryAttachment: (client) => client.attachments.retry(ID),
  getAttachmentContent: async (client) => (await client.attachments.getContent(ID)).text(),
  listContacts: (client) => client.contacts.list({ q: 'Zoë' }).page(),
  getContact: (client) => client.contacts.get(ID),
  createContact: (client) => client.contacts.create({ name: 'Zoë' }),
  updateContact: (client) => client.contacts.update(ID, { name: 'Zoë' }),
  listAgents: (client) => client.agents.list().page(),
  getAgent: (client) => client.agents.get(ID),
  listWebhookEndpoints: (client) => client.webhookEndpoints.list().page(),
  getWebhookEndpoint: (client) => client.webhookEndpoints.get(ID),
  createWebhookEndpoint: (client) =>
    client.webhookEndpoints.create({ url: 'https://example.com', events: ['message.created'] }),
  updateWebhookEndpoint: (client) => client.webhookEndpoints.update(ID, { active: false }),
  deleteWebhookEndpoint: (client) => client.webhookEndpoints.delete(ID),
  testWebhookEndpoint: (client) => client.webhookEndpoints.test(ID),
  rollWebhookEndpointSecret: (client) => client.webhookEndpoints.rollSecret(ID),
};

let service: TestService;
let receiver: Receiver;
let document: any;

beforeAll(async () => {
  service = await TestService.create({ role: 'all' });
  receiver = await Receiver.start();
  document = (await axios.get(`${service.baseUrl}/api/v1/openapi.json`, { proxy: false })).data;
});
function scripted(answer: ScriptedAnswer) {
  const script = new ScriptedFetch([answer]);
  const client = new MessagingClient({
    baseUrl: 'https://chat.example.com',
    apiKey: 'plk_example',
    fetch: script.fetch,
    maxRetries: 0,
  });
  return { client, script };
}

/**
 * Lets the receiver stand for the proxy with TLS in front of a program, which passes each webhook on.
 * @param times how often it passes it on
 */
function passTo(url: string, note: (status: number) => void, times = 1): HttpsReceiver['respond'] {
  const httpsAgent = new Agent({ ca: readFileSync(setting('TEST_CA_FILE')) });
  return (response, { body, headers: { host: _, connection: __, ...headers } }) => {
    const pass = async () => {
      const settings = { headers, httpsAgent, proxy: false, validateStatus: null } as const;
      const { status } = await axios.post(url, body, settings);
      note(status);
      return status;
    };
    const passAll = async () => {
      for (let n = 1; n < times; n++) await pass();
      response.writeHead(await pass()).end();
    };
    // A program is stopped while it may still get a webhook.
    void passAll().catch(() => response.writeHead(502).end());
  };
}

/** Returns the operations of the document, by their names. */
function operations(): Record<string, { route: string; operation: any }> {
  return Object.fromEntries(
    Object.entries<object>(document.paths).flatMap(([path, item]) =>
      Object.entries<any>(item).map(([method, operation]) => [
        operation.operationId,
        { route: `${method.toUpperCase()} ${path}`, operation },
      ]),
    ),
  );
}

describe("the client beside the service's OpenAPI document", () => {
  it('has the types that are generated from it', async () => {
    const committed = readFileSync(resolve(ROOT, 'client/src/generated/openapi.ts'), 'utf8');
    // When they differ: npm run build:service && npm run generate:client
    expect(await generateTypes(document)).toBe(committed);
  });

  it('has a method for each operation, and no other', () => {
    const { client } = scripted('no connection');
    const namespaces = Object.values(client).filter((value) => typeof value === 'object');
    const methods = [client, ...namespaces].flatMap((owner) =>
      Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(owner) as object)).filter(
        ([name, { value }]) => name !== 'constructor' && typeof value === 'function',
      ),
    );
    expect(Object.keys(CALLS).sort()).toEqual(Object.keys(operations()).sort());
    expect(methods).toHaveLength(Object.keys(CALLS).length);
  });

  it.each(Object.entries(CALLS))('calls %s, and returns its documented answer', async (name, call) => {
    const { route, operation } = operations()[name]!;
    const [status, success] = Object.entries<any>(operation.responses).find(([code]) =>
      code.startsWith('2'),
    )!;
    const { 'application/json': json, '*/*': bytes } = success.content ?? {};
    const example: unknown = bytes ? 'bytes' : json?.example;
    const answer = bytes ? { text: 'bytes' } : { body: example };
    const { client, script } = scripted({ status: Number(status), headers: {}, ...answer });
    expect(await call(client)).toEqual(example);
    const [{ method, url, headers }] = script.requests as [(typeof script.requests)[0]];
    expect(`${method} ${url.pathname.replace(ID, '{id}')}`).toBe(route);
    const takesKey = operation.parameters.some(({ name: header }: any) => header === 'Idempotency-Key');
    expect(headers.has('idempotency-key')).toBe(takesKey);
  });

  it('has a class for each error code, and reads each documented error', async () => {
    expect(Object.keys(ERROR_CLASSES).sort()).toEqual(Object.keys(API_ERROR_STATUS).sort());
    const responses = Object.values<any>(document.components.responses);
    const examples = responses.flatMap(({ content }) =>
      Object.values<any>(content['application/json'].examples),
    );
    expect(examples.length).toBeGreaterThanOrEqual(Object.keys(API_ERROR_STATUS).length);
    for (const { value } of examples) {
      const { code, ...said } = value.error as { code: keyof typeof API_ERROR_STATUS };
      const { client } = scripted({ status: API_ERROR_STATUS[code], headers: {}, body: value });
      const error = await client.me().catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(ERROR_CLASSES[code]);
      expect(error).toMatchObject({ code, status: API_ERROR_STATUS[code], ...said });
    }
  });

  it('verifies each documented event', async () => {
    const events = Object.values<any>(document.webhooks).map(
      ({ post }) => post.requestBody.content['application/json'].example as WebhookEvent,
    );
    expect(events.length).toBeGreaterThan(3);
    const timestamp = Math.floor(Date.now() / 1_000);
    for (const event of events) {
      const body = JSON.stringify(event);
      const headers = {
        'webhook-id': 'd-1',
        'webhook-timestamp': String(timestamp),
        'webhook-signature': standardSignature(SECRET, 'd-1', timestamp, body),
      };
      expect(await webhooks.verify(body, headers, SECRET)).toEqual(event);
    }
  });

  it('is tried with signatures as the service makes them', () => {
    for (const { name, secrets, body, headers, expect: expected } of signatures) {
      if (!expected.genuine) continue;
      const given = new Headers(headers as object as Record<string, string>);
      const own = given.get('x-service-signature');
      const standard = given.get('webhook-signature');
      const made = secrets.map((secret) => [
        serviceSignature(secret, body),
        standardSignature(
          secret,
          given.get('webhook-id') ?? '',
          Number(given.get('webhook-timestamp')),
          body,
        ),
      ]);
      const isMade = made.some(
        ([service, signature]) => own === service || standard?.split(' ').includes(signature!),
      );
      expect([name, isMade]).toEqual([name, true]);
    }
  });
});

describe('the client on the service', () => {
  it('does what an assistant needs', async () => {
    const workspace = await service.make.workspace();
    const owner = await service.make.agent(workspace);
    const { key } = await service.make.apiKey(workspace);
    const client = new MessagingClient({ baseUrl: service.baseUrl, apiKey: key });

    expect(await client.me()).toMatchObject({ tenant: { id: workspace.id } });
    expect(await client.agents.get(owner.id)).toMatchObject({ id: owner.id, role: 'OWNER' });
    const contact = await client.contacts.create({ name: 'Zoë Martín', email: 'zoe@example.com' });
    expect(await client.contacts.update(contact.id, { name: 'Zoë' })).toMatchObject({ name: 'Zoë' });
    const conversation = await service.make.conversation(workspace, { contactId: contact.id });
    expect(await client.conversations.get(conversation.id)).toMatchObject({ contact: { name: 'Zoë' } });

    const options = { idempotencyKey: 'answer-1' };
    const sent = await client.messages.send(conversation.id, { body: 'One' }, options);
    expect(await client.messages.send(conversation.id, { body: 'One' }, options)).toEqual(sent);
    await expect(client.messages.send(conversation.id, { body: 'Other' }, options)).rejects.toThrow(
      IdempotencyConflictError,
    );
    await client.messages.send(conversation.id, { body: 'Two' });
    await client.messages.send(conversation.id, { body: 'Two' });
    const bodies: string[] = [];
    for await (const { body } of client.messages.list(conversation.id, { limit: 1 })) bodies.push(body);
    expect(bodies).toEqual(['Two', 'Two', 'One']);

    await client.conversations.update(conversation.id, { status: 'CLOSED', assignedAgentId: owner.id });
    const closed = await client.conversations
      .list({ status: 'CLOSED', assignedAgentId: owner.id, sort: 'activity' })
      .page();
    expect(closed.data).toMatchObject([{ id: conversation.id, contact: { id: contact.id, name: 'Zoë' } }]);
    const { limit, remaining } = client.rateLimits.get('/api/v1/conversations/{id}/messages')!;
    expect([limit, remaining < limit]).toEqual([240, true]);
  });

  it('throws the classes of the codes', async () => {
    const workspace = await service.make.workspace();
    const { key } = await service.make.apiKey(workspace, ['conversations:read', 'messages:write']);
    const conversation = await service.make.conversation(workspace);
    const client = new MessagingClient({ baseUrl: service.baseUrl, apiKey: key });
    const stranger = new MessagingClient({ baseUrl: service.baseUrl, apiKey: 'plk_stranger' });
    await expect(client.conversations.get(ID)).rejects.toThrow(NotFoundError);
    await expect(client.agents.list().page()).rejects.toThrow(ForbiddenError);
    await expect(stranger.me()).rejects.toThrow(UnauthenticatedError);
    const refused = client.messages.send(conversation.id, { body: ' ' }, { requestId: 'my-request' });
    await expect(refused).rejects.toThrow(InvalidBodyError);
    await expect(refused).rejects.toMatchObject({
      details: [{ field: 'body', message: expect.any(String) }],
      requestId: 'my-request',
      rateLimit: { limit: 240 },
    } satisfies Partial<Record<keyof ApiError, unknown>>);
  });

  it('makes endpoints, and verifies what the service sends to them', async () => {
    const workspace = await service.make.workspace();
    await service.make.agent(workspace);
    const { key } = await service.make.apiKey(workspace);
    const client = new MessagingClient({ baseUrl: service.baseUrl, apiKey: key });
    const { id, secret } = await client.webhookEndpoints.create({
      url: receiver.url('/client'),
      events: ['message.created'],
    });
    expect(await client.webhookEndpoints.test(id)).toMatchObject({ status: 200, error: null });
    const conversation = await service.make.conversation(workspace);
    await service.make.received(workspace, conversation, 'Größe? 👋');

    const { body, headers } = await receiver.waitFor(
      ({ envelope }) => envelope.event === 'message.created',
      '/client',
    );
    const event = await webhooks.verify(body, headers, secret!);
    if (event.event !== 'message.created') throw new Error(`${event.event} came.`);
    expect(event.data).toMatchObject({ conversationId: conversation.id, message: { body: 'Größe? 👋' } });
    expect(webhooks.readDelivery(headers, event.event)).toEqual({
      id: headers['x-service-delivery'],
      sequence: expect.any(Number),
      isTest: false,
    });
    await expect(webhooks.verify(body, headers, SECRET)).rejects.toThrow('No secret made the signature.');

    const rolled = await client.webhookEndpoints.rollSecret(id, { gracePeriodSeconds: 0 });
    expect(rolled.secret).not.toBe(secret);
    expect(await client.webhookEndpoints.update(id, { active: false })).toMatchObject({ active: false });
    await client.webhookEndpoints.delete(id);
    await expect(client.webhookEndpoints.get(id)).rejects.toThrow(NotFoundError);
  });
});

describe("the client's README", () => {
  const [call, send, receive] = [
    ...readFileSync(resolve(ROOT, 'client/README.md'), 'utf8').matchAll(/^```js\n([^]*?)^```$/gm),
  ].map(([, code]) => code!);
  const programs: ChildProcess[] = [];

  /** Runs the code of the README as a module, with the test's values in the place of its examples. */
  function start(code: string, values: Record<string, string>, env: NodeJS.ProcessEnv) {
    for (const example of Object.keys(values)) expect(code).toContain(example);
    const text = Object.entries(values).reduce((all, [example, value]) => all.replace(example, value), code);
    const program = spawn(process.execPath, ['--input-type=module', '--eval', text], {
      cwd: ROOT,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    programs.push(program);
    const printed: string[] = [];
    program.stdout.on('data', (text: Buffer) => printed.push(text.toString()));
    return { program, said: () => printed.join('') };
  }

  afterAll(() => programs.forEach((program) => program.kill()));

  it('lists open conversations, and answers in each', async () => {
    const workspace = await service.make.workspace();
    await service.make.agent(workspace);
    const { key } = await service.make.apiKey(workspace);
    const conversation = await service.make.conversation(workspace);
    await service.make.received(workspace, conversation, 'Where is it?');
    const values = { 'https://chat.example.com': service.baseUrl };
    const { program, said } = start(call!, values, { MESSAGING_API_KEY: key });
    expect(await once(program, 'close')).toEqual([0, null]);
    expect(said()).toBe(`${conversation.id} Where is it?\n`);
    const client = new MessagingClient({ baseUrl: service.baseUrl, apiKey: key });
    const { data } = await client.messages.list(conversation.id).page();
    expect(data.map(({ body }) => body)).toEqual(['We are on it.', 'Where is it?']);
  });

  it('sends a file', async () => {
    const workspace = await service.make.workspace();
    await service.make.agent(workspace);
    const { key } = await service.make.apiKey(workspace);
    const { id } = await service.make.conversation(workspace);
    const beginning = call!.slice(0, call!.indexOf('for await'));
    const code = `${beginning}const [conversationId, bytes] = ['${id}', Buffer.from('%PDF-1.7')];\n${send}`;
    const values = { 'https://chat.example.com': service.baseUrl };
    const { program } = start(code, values, { MESSAGING_API_KEY: key });
    expect(await once(program, 'close')).toEqual([0, null]);
    const client = new MessagingClient({ baseUrl: service.baseUrl, apiKey: key });
    const [message] = (await client.messages.list(id).page()).data;
    expect(message).toMatchObject({
      body: 'Your invoice.',
      attachments: [{ contentType: 'application/pdf' }],
    });
    const bytes = await client.attachments.getContent(message!.attachments[0]!.id);
    expect(await bytes.text()).toBe('%PDF-1.7');
  });

  it('receives what the service sends', async () => {
    const workspace = await service.make.workspace();
    const { key } = await service.make.apiKey(workspace);
    const client = new MessagingClient({ baseUrl: service.baseUrl, apiKey: key });
    const path = '/readme';
    const { secret } = await client.webhookEndpoints.create({
      url: receiver.url(path),
      events: ['message.created'],
    });
    const values = { 'listen(8080)': "listen(0, function () { console.log('port', this.address().port); })" };
    const { said } = start(receive!, values, { WEBHOOK_SECRET: secret! });
    const port = Number(await waitFor('the receiver', () => /^port (\d+)$/m.exec(said())?.[1]));
    const statuses: number[] = [];
    receiver.https.respond = passTo(`http://127.0.0.1:${port}/`, (status) => statuses.push(status));
    const conversation = await service.make.conversation(workspace);
    await service.make.received(workspace, conversation, 'Größe? 👋');
    await waitFor('the event', () => said().endsWith('Größe? 👋\n'));
    await waitFor('the answer', () => statuses.length > 0);
    expect(statuses).toEqual([204]);
  });
});

describe('examples/assistant', () => {
  let assistant: ChildProcess | undefined;

  afterEach(() => assistant?.kill());

  it.each(['http', 'https'])('answers each message of a customer by %s, once', async (scheme) => {
    const path = `/assistant-by-${scheme}`;
    const workspace = await service.make.workspace();
    const bot = await service.make.agent(workspace, { role: 'AGENT', isBot: true });
    const { key } = await service.make.apiKey(workspace);
    const client = new MessagingClient({ baseUrl: service.baseUrl, apiKey: key });
    const { secret } = await client.webhookEndpoints.create({
      url: receiver.url(path),
      events: ['message.created'],
      context: true,
    });
    assistant = spawn(process.execPath, ['examples/assistant/assistant.mjs'], {
      cwd: ROOT,
      env: {
        MESSAGING_URL: service.baseUrl,
        MESSAGING_API_KEY: key,
        WEBHOOK_SECRET: secret!,
        SENDER_AGENT_ID: bot.id,
        PORT: '0',
        ...(scheme === 'https' && { TLS_CERT: setting('TEST_CERT_FILE'), TLS_KEY: setting('TEST_KEY_FILE') }),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    assistant.stdout!.on('data', (text: Buffer) => (said += text.toString()));
    const port = await waitFor('the assistant', () => /"port":(\d+)/.exec(said)?.[1]);
    receiver.https.respond = passTo(`${scheme}://127.0.0.1:${port}/`, () => undefined, 2);

    const conversation = await service.make.conversation(workspace);
    const ask = async (question: string) => {
      await service.make.received(workspace, conversation, question);
      await receiver.waitFor(({ envelope }) => envelope.data.message.body === question, path);
    };
    await ask('Where is my parcel?');
    await waitFor(
      'the answer',
      async () => (await client.messages.list(conversation.id).page()).data.length === 2,
    );
    await ask('Found it!');
    await waitFor(
      'the answer',
      async () => (await client.messages.list(conversation.id).page()).data.length === 4,
    );
    const messages: string[] = [];
    for await (const { senderType, body } of client.messages.list(conversation.id))
      messages.push(`${senderType}: ${body}`);
    expect(messages.reverse()).toEqual([
      'CUSTOMER: Where is my parcel?',
      'AGENT: Good question, Zoë Martín. A colleague comes.',
      'CUSTOMER: Found it!',
      'AGENT: Thank you, Zoë Martín!',
    ]);
  });
});
