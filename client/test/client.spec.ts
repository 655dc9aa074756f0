import { inspect } from 'node:util';
import errors from '../vectors/errors.json';
import pages from '../vectors/pages.json';
import retries from '../vectors/retries.json';
import { MessagingClient } from '../src/client.ts';
import { ApiError, ERROR_CLASSES, MessagingError } from '../src/errors.ts';
import type { UploadInput } from '../src/api-types.ts';
import type { Attempt, ClientOptions } from '../src/options.ts';
import type { PagedList } from '../src/pages.ts';
import { type ScriptedAnswer, ScriptedFetch } from './scripted-fetch.ts';
import { VERSION } from '../src/version.ts';

const API_KEY = 'plk_4fq0mRk3VbEXAMPLEonlyForTheTests0000000';
const ID = '019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11';

/** Call of a vector. */
interface VectorCall {
  operation: string;
  id?: string;
  query?: Record<string, unknown>;
  body?: Record<string, unknown>;
  /** Bytes of a file, as text. */
  content?: string;
  form?: { conversationId: string; name: string; file: string };
  idempotencyKey?: string;
}

function clientOn(answers: readonly ScriptedAnswer[], options: Partial<ClientOptions> = {}) {
  const script = new ScriptedFetch(answers);
  const client = new MessagingClient({
    baseUrl: 'https://chat.example.com',
    apiKey: API_KEY,
    fetch: script.fetch,
    ...options,
  });
  return { client, script };
}

function perform(
  client: MessagingClient,
  call: VectorCall,
  options: { timeoutMs?: number },
): Promise<unknown> {
  const { id = '', body = {}, content = '', form, idempotencyKey } = call;
  switch (call.operation) {
    case 'getMe':
      return client.me(options);
    case 'updateConversation':
      return client.conversations.update(id, body, options);
    case 'createContact':
      return client.contacts.create(body, { ...options, idempotencyKey });
    case 'sendMessage':
      return client.messages.send(id, body, { ...options, idempotencyKey });
    case 'createUpload':
      return client.uploads.create(body as unknown as UploadInput, { ...options, idempotencyKey });
    case 'putUploadContent':
      return client.uploads.putContent(id, new TextEncoder().encode(content), options);
    case 'uploadFile':
      return client.attachments.uploadFile({ ...form!, file: new Blob([form!.file]) }, options);
    default:
      throw new Error(`No vector calls ${call.operation} yet.`);
  }
}

function list(client: MessagingClient, { operation, query }: VectorCall): PagedList<{ id: string }> {
  return operation === 'listContacts' ? client.contacts.list(query) : client.conversations.list(query);
}

/** Lets the time pass until a promise has settled. */
async function settle<Value>(promise: Promise<Value>): Promise<PromiseSettledResult<Value>> {
  const settled = Promise.allSettled([promise]);
  await jest.runAllTimersAsync();
  return (await settled)[0];
}

function expectWithin(values: number[], bounds: number[][]) {
  expect(values).toHaveLength(bounds.length);
  for (const [index, [least, most]] of bounds.entries()) {
    expect(values[index]).toBeGreaterThanOrEqual(least!);
    expect(values[index]).toBeLessThanOrEqual(most! + 1);
  }
}

describe('a call', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
  afterEach(() => jest.useRealTimers());

  it.each(retries.map((vector) => [vector.name, vector] as const))('%s', async (_, vector) => {
    const { client, script } = clientOn(vector.answers as ScriptedAnswer[]);
    const startedAt = Date.now();
    const outcome = await settle(perform(client, vector.call, { timeoutMs: vector.timeoutMs }));
    const { result, error, waitsMs, idempotencyKey, tookMs } = vector.expect;

    const times = script.requests.map(({ sentAt }) => sentAt);
    expectWithin(
      times.slice(1).map((time, index) => time - times[index]!),
      waitsMs,
    );
    if (tookMs) expectWithin([Date.now() - startedAt], [tookMs]);
    if (result) expect(outcome).toEqual({ status: 'fulfilled', value: result });
    else expect(outcome).toMatchObject({ status: 'rejected', reason: error });
    const { content } = vector.call as VectorCall;
    if (content !== undefined)
      for (const request of script.requests) expect(await new Response(request.content).text()).toBe(content);
    const keys = new Set(script.requests.map(({ headers }) => headers.get('idempotency-key')));
    if (idempotencyKey === undefined) expect([...keys]).toEqual([null]);
    else
      expect([...keys]).toEqual([
        idempotencyKey === 'one' ? expect.stringMatching(/^[\w-]{36}$/) : idempotencyKey,
      ]);
  });

  it('ends with the reason of its signal, in an attempt and in a wait', async () => {
    const reason = new Error('The user has left.');
    for (const answers of [['no answer'], ['no connection']] as ScriptedAnswer[][]) {
      const { client, script } = clientOn(answers);
      const abort = new AbortController();
      const outcome = Promise.allSettled([client.me({ signal: abort.signal })]);
      await jest.advanceTimersByTimeAsync(100);
      abort.abort(reason);
      expect(await outcome).toEqual([{ status: 'rejected', reason }]);
      expect(script.requests).toHaveLength(1);
      expect(jest.getTimerCount()).toBe(0);
    }
  });

  it('is not sent when its signal has ended before', async () => {
    const { client, script } = clientOn([]);
    await expect(client.me({ signal: AbortSignal.abort(new Error('Too late.')) })).rejects.toThrow(
      'Too late.',
    );
    expect(script.requests).toEqual([]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('takes a repeated deletion for done when there is nothing left', async () => {
    const gone = { status: 404, headers: {}, body: { error: { code: 'NOT_FOUND', message: 'Not found.' } } };
    const repeated = clientOn(['no connection', gone]);
    const outcome = await settle(repeated.client.webhookEndpoints.delete(ID));
    expect(outcome).toEqual({ status: 'fulfilled', value: undefined });
    const first = clientOn([gone]);
    expect(await settle(first.client.webhookEndpoints.delete(ID))).toMatchObject({
      status: 'rejected',
      reason: { status: 404 },
    });
  });

  it('leaves no timer and no listener behind', async () => {
    const { client } = clientOn([retries[0]!.answers[0] as ScriptedAnswer]);
    await client.me();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('reports each attempt, without the key and what was asked', async () => {
    const attempts: Attempt[] = [];
    const answers = [
      { status: 500, headers: { 'x-request-id': 'r-1' }, text: '' },
      {
        status: 200,
        headers: { 'x-request-id': 'r-2', ...RATE_HEADERS },
        text: '{"data":[],"nextCursor":null}',
      },
    ];
    const { client } = clientOn(answers, { onAttempt: (attempt) => attempts.push(attempt) });
    await settle(client.contacts.list({ q: 'zoe@example.com' }).page());
    const common = { operation: 'listContacts', method: 'GET', path: '/api/v1/contacts', isReplayed: false };
    expect(attempts).toEqual([
      {
        ...common,
        attempt: 1,
        durationMs: 0,
        status: 500,
        requestId: 'r-1',
        rateLimit: null,
        error: expect.any(ApiError),
        retryInMs: expect.any(Number),
      },
      {
        ...common,
        attempt: 2,
        durationMs: 0,
        status: 200,
        requestId: 'r-2',
        rateLimit: { limit: 240, remaining: 7, resetsAt: new Date(Date.now() + 21_000) },
        error: null,
        retryInMs: null,
      },
    ]);
    expect(inspect(attempts, { depth: null })).not.toMatch(/plk_|zoe/);
  });

  it('keeps the state of each rate limit', async () => {
    const { client } = clientOn([{ status: 200, headers: RATE_HEADERS, text: '{}' }]);
    expect([...client.rateLimits]).toEqual([]);
    await client.me();
    expect([...client.rateLimits]).toEqual([
      ['/api/v1/me', { limit: 240, remaining: 7, resetsAt: new Date(Date.now() + 21_000) }],
    ]);
  });
});

const RATE_HEADERS = {
  'x-ratelimit-limit': '240',
  'x-ratelimit-remaining': '7',
  'x-ratelimit-reset': '21',
};

describe('a list', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
  afterEach(() => jest.useRealTimers());

  it.each(pages.map((vector) => [vector.name, vector] as const))('%s', async (_, vector) => {
    const { client, script } = clientOn(vector.requests.map(({ answer }) => answer) as ScriptedAnswer[]);
    const ids: string[] = [];
    const read = async () => {
      for await (const { id } of list(client, vector.call)) {
        ids.push(id);
        if (ids.length === vector.stopAfter) break;
      }
    };
    const outcome = await settle(read());
    expect(ids).toEqual(vector.expect.ids);
    if (vector.expect.error) expect(outcome).toMatchObject({ reason: vector.expect.error });
    else expect(outcome.status).toBe('fulfilled');
    expect(script.requests.map(({ url }) => Object.fromEntries(url.searchParams))).toEqual(
      vector.requests.map(({ query }) => query),
    );
  });

  it('is read page by page, too, and nothing is requested before', async () => {
    const { client, script } = clientOn(pages[2]!.requests.map(({ answer }) => answer) as ScriptedAnswer[]);
    const conversations = client.conversations.list();
    expect(script.requests).toEqual([]);
    expect(await conversations.page()).toMatchObject({
      data: [{ id: 'c5' }, { id: 'c4' }],
      nextCursor: 'c4',
    });
    expect(script.requests).toHaveLength(1);
  });
});

describe('an error', () => {
  it.each(errors.map((vector) => [vector.name, vector] as const))('%s', async (_, vector) => {
    const { client } = clientOn([vector.answer as ScriptedAnswer], { maxRetries: 0 });
    const error = await client.me().catch((caught: unknown) => caught);
    const { rateLimit, ...expected } = vector.expect;
    expect(error).toMatchObject(expected);
    expect(error).toBeInstanceOf(
      (ERROR_CLASSES as Record<string, typeof ApiError | undefined>)[vector.expect.code] ?? ApiError,
    );
    expect(error).toBeInstanceOf(MessagingError);
    if (rateLimit) {
      const state = (error as ApiError).rateLimit!;
      expect(state).toMatchObject({ limit: rateLimit.limit, remaining: rateLimit.remaining });
      expect(
        Math.abs(state.resetsAt.getTime() - Date.now() - rateLimit.resetsInSeconds * 1_000),
      ).toBeLessThan(1_000);
    }
  });

  it('has a name of its own for each code', () => {
    const answer = { status: 400, message: '', reason: null, values: {}, details: [], requestId: null };
    const names = Object.entries(ERROR_CLASSES).map(
      ([code, ErrorClass]) => new ErrorClass({ ...answer, code, retryAfterMs: null, rateLimit: null }).name,
    );
    expect(new Set(names).size).toBe(Object.keys(ERROR_CLASSES).length);
    expect(names).not.toContain('ApiError');
  });
});

describe('the client', () => {
  const ok = { status: 200, headers: {}, text: '{}' };

  it('sends its key and its name, and follows no redirect', async () => {
    const { client, script } = clientOn([ok], { baseUrl: 'https://chat.example.com/messaging/' });
    await client.me({ requestId: 'sync-1' });
    const [{ url, headers, redirect }] = script.requests as [(typeof script.requests)[0]];
    expect(url.href).toBe('https://chat.example.com/messaging/api/v1/me');
    expect(Object.fromEntries(headers)).toEqual({
      accept: 'application/json',
      authorization: `Bearer ${API_KEY}`,
      'user-agent': `conversation-messaging-client-js/${VERSION}`,
      'x-request-id': 'sync-1',
    });
    expect(redirect).toBe('manual');
  });

  it('shows its key to nobody who prints it', () => {
    const { client } = clientOn([]);
    expect(inspect(client, { depth: null, showHidden: true }) + JSON.stringify(client)).not.toContain('plk_');
  });

  it.each([
    ['an empty key', { apiKey: '' }, 'apiKey must be an API key of the service: plk_… without blanks.'],
    ['a key with a line break', { apiKey: `${API_KEY}\n` }, 'apiKey must be an API key'],
    ['no key', { apiKey: undefined }, 'apiKey must be an API key'],
    ['no address', { baseUrl: undefined }, 'baseUrl must be the address of the service'],
    ['an address without its scheme', { baseUrl: 'chat.example.com' }, 'baseUrl must be the address'],
    ['the address of the API', { baseUrl: 'https://chat.example.com/api/v1/' }, 'without /api/v1.'],
  ])('refuses %s, and does not repeat it', (_, options, message) => {
    const make = () => clientOn([], options);
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
    expect(make).not.toThrow(API_KEY);
  });

  it.each(['', '.', '..'])('refuses the id %j, which would lead to another route', async (id) => {
    const { client, script } = clientOn([]);
    await expect(client.conversations.get(id)).rejects.toThrow('An id must be a string, and not empty.');
    expect(script.requests).toEqual([]);
  });

  it('encodes an id', async () => {
    const { client, script } = clientOn([ok]);
    await client.conversations.get('../me?x=1#');
    expect(script.requests[0]!.url.pathname).toBe('/api/v1/conversations/..%2Fme%3Fx%3D1%23');
  });

  it('sends a malformed idempotency key never', async () => {
    const { client, script } = clientOn([]);
    await expect(client.messages.send(ID, { body: 'Hi' }, { idempotencyKey: '漢' })).rejects.toThrow(
      TypeError,
    );
    expect(script.requests).toEqual([]);
  });
});
