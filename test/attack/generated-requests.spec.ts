import fc, { Arbitrary } from 'fast-check';
import { createHmac } from 'node:crypto';
import { request } from 'undici';
import { generateApiKey } from '../../src/auth/api-key-token';
import { ConnectedChannel } from '../../src/channels/connections/channel-connection.dto';
import { ChannelConnectionsService } from '../../src/channels/connections/channel-connections.service';
import { SYSTEM } from '../../src/access/principal';
import { ContractValidator } from '../support/contract-validator';
import { connect } from '../support/connected-workspace';
import { MessagingHost } from '../support/messaging-host';
import { createTenant, Tenant } from '../support/routes';
import { TestService } from '../support/service';
import { InstagramSimulator } from '../support/simulators/instagram';
import { MessengerSimulator } from '../support/simulators/messenger';
import { ProviderSimulator } from '../support/simulators/provider-simulator';
import { TelegramSimulator } from '../support/simulators/telegram';
import { WhatsAppSimulator } from '../support/simulators/whatsapp';
import { ORIGIN, TestWidget } from '../support/widget';
import { addressOf } from './hooks';
import { readDocuments } from '../support/openapi-documents';
import { emptyRedis } from '../support/redis-connections';
import {
  CLIENT_MESSAGE_ID,
  GeneratedRequest,
  Known,
  RequestOperation,
  operationsOf,
  requestsOf,
  usualRequestsOf,
} from './openapi-requests';

/** Number of requests to each operation. */
const RUNS = Number(process.env.RUNS ?? 60);
const seed = process.env.SEED ? Number(process.env.SEED) : Math.floor(Math.random() * 1_000_000);
const NO_RATE_LIMIT = 1_000_000;
/** Number of visitors who share the requests, so that none reaches the limit of a visitor's calls. */
const VISITORS = Math.ceil(RUNS / 20);
const APP_SECRET = 'app-secret';
const VERIFY_TOKEN = 'verify-token-of-16';
const PHONE = '7100001';
const PAGE = '7200001';
const ACCOUNT = '7300001';
const BOT = 7_000_001;

/**
 * Sends requests that are generated from the OpenAPI documents: valid ones, nearly valid ones, and others.
 * RUNS=… sets the number to each operation, and SEED=… repeats a run.
 */
describe(`Requests made from the OpenAPI document (SEED=${seed})`, () => {
  const telegram = new TelegramSimulator();
  const whatsApp = new WhatsAppSimulator();
  const messenger = new MessengerSimulator();
  const instagram = new InstagramSimulator();
  const providers: ProviderSimulator[] = [telegram, whatsApp, messenger, instagram];
  let service: TestService;
  let contract: ContractValidator;
  let document: any;
  let known: Known;
  let sent = 0;

  beforeAll(async () => {
    await Promise.all(providers.map((provider) => provider.start()));
    service = await TestService.create({
      env: {
        // Nothing listens there, but answers are offered by mail.
        SMTP_URL: 'smtp://127.0.0.1:9',
        MAIL_FROM: 'login@example.com',
        TRUST_PROXY: 'true',
        TELEGRAM_API_URL: telegram.url,
        META_GRAPH_URL: whatsApp.url,
        INSTAGRAM_GRAPH_URL: instagram.url,
      },
    });
    contract = await ContractValidator.create(service.baseUrl);
    document = await readDocuments(service.baseUrl);
    known = await makeKnown();
  });

  async function makeKnown(): Promise<Known> {
    const tenant = await createTenant(service, service.make.workspace({ rateLimit: NO_RATE_LIMIT }));
    const { workspace, conversation, owner } = tenant;
    const widget = await TestWidget.connect(service, workspace);
    const visitor = await widget.visitor();
    const tokens = [visitor.token!];
    while (tokens.length < VISITORS) tokens.push(await newToken(widget));
    const written = (await visitor.post(CLIENT_MESSAGE_ID)).body.message.id as string;
    const answer = await answerTo(written, workspace);
    const whatsAppHook = await connect(service, workspace, 'WHATSAPP', meta({ phoneNumberId: PHONE }));
    const messengerHook = await connectPage(workspace);
    const instagramHook = await connect(service, workspace, 'INSTAGRAM', meta({ accountId: ACCOUNT }));
    const botToken = TelegramSimulator.token(BOT);
    const telegramHook = await connect(service, workspace, 'TELEGRAM', { botToken });
    const secretToken = telegram.webhooks.get(botToken)!.secret_token!;
    const hooks = [whatsAppHook, messengerHook, instagramHook, telegramHook].map(pathOf);
    const identity = { channel: 'WIDGET' as const, externalId: 'visitor-1' };
    const contact = await service.make.contact(workspace, { identity });
    const ids = [conversation.id, answer.id, written, contact.id];
    const endpoint = await tenant.makeEndpoint();
    const spareEndpoints = [await tenant.makeEndpoint(), await tenant.makeEndpoint()];
    const spareUploads = [await tenant.makeUpload(), await tenant.makeUpload()];
    /** Ids of the things that the API's paths name, by the paths' second part. */
    const things: Record<string, string> = {
      conversations: conversation.id,
      contacts: contact.id,
      agents: owner.id,
      'webhook-endpoints': endpoint,
      uploads: await tenant.makeUpload(),
      attachments: await tenant.findAttachment(),
    };

    return {
      pathValues: ({ template, method }) => {
        if (template.startsWith('/channels/widget/')) return [widget.siteKey];
        if (template.startsWith('/channels/'))
          return hooks
            .filter((path) => path.startsWith(template.split('{')[0]!))
            .map((path) => path.split('/').at(-1)!);
        if (method === 'DELETE') return template.includes('/uploads/') ? spareUploads : spareEndpoints;
        return [things[template.split('/')[3]!] ?? ''];
      },
      fields: {
        cursor: fc.constantFrom(...ids),
        messageId: fc.constant(answer.id),
        senderAgentId: fc.constant(owner.id),
        contactId: fc.constant(contact.id),
        conversationId: fc.constant(conversation.id),
        size: fc.constantFrom(1, 48_211),
        contentType: fc.constantFrom('image/jpeg', 'text/plain; charset=utf-8'),
        sha256: fc.constant('0'.repeat(64)),
        channel: fc.constantFrom('WIDGET', 'TELEGRAM'),
        url: fc.constantFrom('https://127.0.0.1:9999/hook', 'https://example.invalid/hook', 'http://x'),
        events: fc.constantFrom(['webhook.test'], ['message.created'], ['*']),
        version: fc.constantFrom(1, 2),
        updatedAt: fc.constant(contact.updatedAt.toISOString()),
        assignedAgentId: fc.constantFrom(owner.id, null),
        body: fc.constantFrom('Hello', 'Sí 😀', 'x'.repeat(4096)),
        q: fc.constantFrom('zo', 'zoë', '+34', 'martin', '_', '\\'),
        'hub.verify_token': fc.constant(VERIFY_TOKEN),
        'hub.challenge': fc.constant('1158201444'),
        'hub.mode': fc.constant('subscribe'),
      },
      callers: ({ template }) => callersOf(template, tenant, tokens),
      samples: ({ template }) => notifications(template),
      sign: ({ template }, body) => signed(template, body, secretToken),
    };
  }

  /** Returns the token of a new visitor at an address of its own, who has written a message. */
  async function newToken(widget: TestWidget): Promise<string> {
    const page = widget.page(service.client, { 'x-forwarded-for': addressOf(sent++) });
    const token = (await page.open()).body.token as string;
    await page.as(token).post(CLIENT_MESSAGE_ID);
    return token;
  }

  /** Sends an agent's answer to a visitor's message. */
  async function answerTo(messageId: string, workspace: { id: string }): Promise<{ id: string }> {
    const [conversation] = await service.query<{ id: string }>(
      'SELECT conversation_id AS id FROM messages WHERE tenant_id = $1 AND id = $2',
      [workspace.id, messageId],
    );
    return service.make.sent(workspace, conversation!);
  }

  /** Connects Messenger or Instagram: both simulators of Meta's Graph API have the same settings. */
  async function connectPage({ id }: { id: string }): Promise<ConnectedChannel> {
    const host = await MessagingHost.create({
      beside: service,
      providerUrls: { META_GRAPH_URL: messenger.url },
    });
    const input = { channel: 'MESSENGER' as const, credentials: meta({ pageId: PAGE }) };
    const page = await host.get(ChannelConnectionsService).connect(id, input, SYSTEM);
    await host.close();
    return page;
  }

  function meta(account: object): object {
    return { ...account, accessToken: 'token', appSecret: APP_SECRET, verifyToken: VERIFY_TOKEN };
  }

  function callersOf(template: string, { key }: Tenant, tokens: string[]): ReturnType<Known['callers']> {
    if (template.startsWith('/channels/widget/')) {
      const page = { origin: ORIGIN };
      const authorized = tokens.map((token) => ({ ...page, authorization: `Bearer ${token}` }));
      return {
        authorized,
        others: [
          page,
          {},
          { authorization: authorized[0]!.authorization },
          { origin: 'https://evil.example' },
          { ...page, authorization: 'Bearer x.y.z' },
        ],
      };
    }
    if (template.startsWith('/channels/'))
      return { authorized: [{}], others: [{ authorization: `Bearer ${key.key}` }] };
    return {
      authorized: [{ authorization: `Bearer ${key.key}` }, { 'x-api-key': key.key }],
      others: [
        {},
        { authorization: 'Bearer plk_x' },
        { 'x-api-key': generateApiKey() },
        { authorization: `Bearer ${generateApiKey()}`, 'x-api-key': key.key },
        { authorization: `Basic ${Buffer.from('a:b').toString('base64')}` },
      ],
    };
  }

  /**
   * Returns a generator of a provider's notifications, as the simulators make them; null for a route without
   * any.
   */
  function notifications(template: string): Arbitrary<unknown> | null {
    const bodies: Record<string, () => object[]> = {
      telegram: () => [
        telegram.textUpdate(7, 'Hello'),
        telegram.update(8, { photo: [{ file_id: 'x' }], caption: 'A' }),
      ],
      whatsapp: () => [
        whatsApp.notification(PHONE, { messages: [whatsApp.message('34600', 'Hello')] }),
        whatsApp.notification(PHONE, {
          messages: [whatsApp.message('34600', '', { type: 'image', image: { id: '1' } })],
        }),
        whatsApp.notification(PHONE, {
          statuses: [
            whatsApp.status({ id: 'wamid.x', to: '34600', ownId: undefined }, 'failed', {
              code: 1,
              title: 'x',
            }),
          ],
        }),
      ],
      messenger: () => [
        messenger.notification(messenger.message(PAGE, '8', 'Hello')),
        messenger.notification(messenger.delivered(PAGE, '8', ['m_1'])),
        messenger.notification(messenger.read(PAGE, '8')),
        messenger.notification(
          messenger.event(PAGE, '8', { postback: { mid: 'm_2', title: 'Go', payload: 'GO' } }),
        ),
      ],
      instagram: () => [
        instagram.notification(instagram.message(ACCOUNT, '9', 'Hello')),
        instagram.notification(instagram.read(ACCOUNT, '9', 'm_3')),
        instagram.dashboardTest(),
      ],
    };
    const make = bodies[template.split('/')[2]!];
    if (!template.startsWith('/channels/') || !make) return null;
    return fc.constantFrom(...make());
  }

  function signed(template: string, body: string, secretToken: string): Record<string, string> {
    if (!template.startsWith('/channels/')) return {};
    const digest = createHmac('sha256', APP_SECRET).update(body).digest('hex');
    return { 'x-hub-signature-256': `sha256=${digest}`, 'x-telegram-bot-api-secret-token': secretToken };
  }

  async function send(
    { method, path, headers, body }: GeneratedRequest,
    operation: RequestOperation,
  ): Promise<number> {
    const response = await request(service.baseUrl + path, {
      method: method as 'GET',
      headers: { ...headers, 'x-forwarded-for': addressOf(sent++) },
      body,
    });
    const type = String(response.headers['content-type']);
    const isStream = type.startsWith('text/event-stream');
    const text = isStream ? '' : await response.body.text();
    if (isStream) response.body.destroy();
    const answer = {
      status: response.statusCode,
      headers: response.headers as Record<string, string>,
      body: type.startsWith('application/json') ? JSON.parse(text) : text || null,
    };
    // Of an operation without a body the document does not say how an unreadable one is answered.
    const isOfBody =
      operation.body === null && body !== undefined && answer.body?.error?.code === 'INVALID_BODY';
    if (isOfBody) contract.checkError(`${method} ${path}`, answer);
    else contract.check(method, path, answer);
    return response.statusCode;
  }

  /**
   * Operations of the OpenAPI documents. Jest needs the list before a document can be requested; a test
   * compares the two.
   */
  const OPERATIONS = [
    'GET /api/v1/me',
    'GET /api/v1/conversations',
    'GET /api/v1/conversations/{id}',
    'PATCH /api/v1/conversations/{id}',
    'GET /api/v1/conversations/{id}/messages',
    'POST /api/v1/conversations/{id}/messages',
    'GET /api/v1/contacts',
    'POST /api/v1/conversations',
    'GET /api/v1/messages/search',
    'POST /api/v1/contacts',
    'GET /api/v1/contacts/{id}',
    'PATCH /api/v1/contacts/{id}',
    'GET /api/v1/agents',
    'GET /api/v1/agents/{id}',
    'GET /api/v1/webhook-endpoints',
    'POST /api/v1/webhook-endpoints',
    'GET /api/v1/webhook-endpoints/{id}',
    'PATCH /api/v1/webhook-endpoints/{id}',
    'DELETE /api/v1/webhook-endpoints/{id}',
    'POST /api/v1/webhook-endpoints/{id}/test',
    'POST /api/v1/webhook-endpoints/{id}/roll-secret',
    'POST /api/v1/uploads',
    'GET /api/v1/uploads/{id}',
    'DELETE /api/v1/uploads/{id}',
    'GET /api/v1/attachments/{id}',
    'POST /api/v1/attachments/{id}/retry',
    'POST /channels/telegram/{hookKey}',
    'GET /channels/whatsapp/{hookKey}',
    'POST /channels/whatsapp/{hookKey}',
    'GET /channels/messenger/{hookKey}',
    'POST /channels/messenger/{hookKey}',
    'GET /channels/instagram/{hookKey}',
    'POST /channels/instagram/{hookKey}',
    'POST /channels/widget/{siteKey}/sessions',
    'POST /channels/widget/{siteKey}/messages',
    'GET /channels/widget/{siteKey}/answer-address',
    'POST /channels/widget/{siteKey}/answer-address',
    'GET /channels/widget/{siteKey}/messages',
    'PATCH /channels/widget/{siteKey}/messages/{clientMessageId}',
    'DELETE /channels/widget/{siteKey}/messages/{clientMessageId}',
    'POST /channels/widget/{siteKey}/receipts',
    'POST /channels/widget/{siteKey}/typing',
    'GET /channels/widget/{siteKey}/events',
    'POST /channels/widget/{siteKey}/uploads',
  ];
  /** Operations on bytes, which no schema describes, or with two ids. The tests of files request them. */
  const OF_BYTES = [
    'PUT /api/v1/uploads/{id}/content',
    'POST /api/v1/attachments',
    'GET /api/v1/attachments/{id}/content',
    'GET /channels/files/{token}',
    'PUT /channels/widget/{siteKey}/uploads/{id}/content',
    'DELETE /channels/widget/{siteKey}/uploads/{id}',
    'GET /channels/widget/{siteKey}/attachments/{id}/content',
  ];
  const nameOf = ({ method, template }: RequestOperation) => `${method} ${template}`;

  it('are made for every operation', () => {
    expect(operationsOf(document).map(nameOf).sort()).toEqual([...OPERATIONS, ...OF_BYTES].sort());
  });

  it.each(OPERATIONS)('to %s are answered as it says, and never with 500', async (name) => {
    const operation = operationsOf(document).find((candidate) => nameOf(candidate) === name)!;
    const statuses: number[] = [];
    // The requests to the operation before may have used up a limit that both have.
    await emptyRedis(service.stores.redisUrl);
    await fc.assert(
      fc.asyncProperty(requestsOf(operation, document as object, known), async (generated) => {
        const status = await send(generated, operation);
        statuses.push(status);
        if (status > 499)
          throw new Error(`${generated.method} ${generated.path} was answered with ${status}`);
      }),
      { numRuns: RUNS, seed },
    );
    // Otherwise only refusals were tested. Some operations refuse most requests, so that others are needed.
    const usual = fc.sample(usualRequestsOf(operation, document as object, known), { numRuns: RUNS, seed });
    const isTaken = (status: number) => status < 300;
    for (const generated of usual)
      if (!statuses.some(isTaken)) statuses.push(await send(generated, operation));
    expect(statuses.some(isTaken)).toBe(true);
  });
});

function pathOf({ hookUrl }: ConnectedChannel): string {
  return new URL(hookUrl).pathname;
}
