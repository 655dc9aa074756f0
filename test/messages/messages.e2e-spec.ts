import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { AgentsService } from '../../src/workspaces/agents.service';
import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { ApiResponse } from '../support/api-client';
import { errorBody, fieldError } from '../support/errors';
import { eventsOf } from '../support/events';
import { createTenant, Tenant } from '../support/routes';
import { TestService } from '../support/service';

const NOT_TEXT = 'must be a string of valid Unicode without NUL';
const NOT_AN_AGENT = 'is not an active agent of this workspace';
const NO_OBJECT = 'A JSON object sent as application/json is required.';
const UNREADABLE = 'The body cannot be read as JSON.';
const ENCODING = 'The Content-Encoding of the body is not gzip, deflate or br.';
/** Fields of a message that its customer has not changed. */
const UNCHANGED = { isDescribed: false, attachments: [], editedAt: null, unsentAt: null, reactions: [] };

describe('messages', () => {
  let service: TestService;
  let tenant: Tenant;

  beforeAll(async () => {
    service = await TestService.create();
  });
  beforeEach(async () => {
    tenant = await createTenant(service, service.make.workspace({ rateLimit: 100_000 }));
  });

  const path = () => `/conversations/${tenant.conversation.id}/messages`;
  const post = (body: unknown, headers?: Record<string, string>) => tenant.client.post(path(), body, headers);
  const list = async (): Promise<any[]> => tenant.client.all(path(), 200);
  const detail = async () => (await tenant.client.get(`/conversations/${tenant.conversation.id}`)).body;
  const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id);

  describe('GET /api/v1/conversations/:id/messages', () => {
    it('lists them, newest first, from customers and agents alike', async () => {
      const { workspace, owner, conversation, client } = tenant;
      const question = await service.make.received(workspace, conversation, 'Where is my parcel?');
      const answer = await service.make.sent(workspace, conversation, 'On its way.');

      const { status, body } = await client.get(path());

      expect(status).toBe(200);
      expect(body).toEqual({
        data: [
          {
            id: answer.id,
            senderType: 'AGENT',
            senderAgentId: owner.id,
            body: 'On its way.',
            createdAt: answer.createdAt.toISOString(),
            delivery: { status: 'QUEUED', error: null },
            ...UNCHANGED,
          },
          {
            id: question.id,
            senderType: 'CUSTOMER',
            senderAgentId: null,
            body: 'Where is my parcel?',
            createdAt: question.createdAt.toISOString(),
            delivery: { status: null, error: null },
            ...UNCHANGED,
          },
        ],
        nextCursor: null,
      });
    });

    it('is empty before the first message', async () => {
      expect((await tenant.client.get(path())).body).toEqual({ data: [], nextCursor: null });
    });

    it("shows nothing of the workspace's other conversations", async () => {
      const other = await service.make.conversation(tenant.workspace);
      const { id } = await service.make.received(tenant.workspace, other);
      expect(await list()).toEqual([]);
      expect((await tenant.client.get(`${path()}?cursor=${id}`)).body.data).toEqual([]);
    });

    it('comes in pages that neither repeat nor lose a row while messages arrive', async () => {
      const { workspace, conversation, client } = tenant;
      const ids: string[] = [];
      for (let i = 0; i < 7; i++)
        ids.unshift((await service.make.received(workspace, conversation, `No. ${i}`)).id);
      const seen: string[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const page: ApiResponse = await client.get(`${path()}?limit=3${cursor && `&cursor=${cursor}`}`);
        seen.push(...idsOf(page.body.data));
        cursor = page.body.nextCursor as string | null;
        await service.make.sent(workspace, conversation);
      }
      expect(seen).toEqual(ids);
    });

    it('goes on from a message that is gone', async () => {
      const { workspace, conversation, client } = tenant;
      const first = await service.make.received(workspace, conversation);
      const gone = await service.make.received(workspace, conversation);
      await service.query('DELETE FROM messages WHERE id = $1', [gone.id]);
      expect(idsOf((await client.get(`${path()}?cursor=${gone.id}`)).body.data)).toEqual([first.id]);
    });

    it.each([
      ['limit=0', 'limit', 'must be a whole number from 1 to 200'],
      ['limit=201', 'limit', 'must be a whole number from 1 to 200'],
      ['limit=5&limit=6', 'limit', 'must be a whole number from 1 to 200'],
      ['cursor=5', 'cursor', 'must be the nextCursor of an earlier page: leave it out for the first page'],
      ['status=OPEN', 'status', 'is not a known field'],
    ])('refuses ?%s', async (query, field, message) => {
      const { status, body } = await tenant.client.get(`${path()}?${query}`);
      expect(status).toBe(400);
      expect(body).toEqual(fieldError('INVALID_QUERY', field, message));
    });
  });

  describe('POST /api/v1/conversations/:id/messages', () => {
    it('sends a message as an agent: the same in answer, list, preview and event', async () => {
      const { owner, conversation, workspace } = tenant;

      const { status, body, headers } = await post({ body: 'Hello, Zoë! 👋' });

      expect(status).toBe(201);
      expect(body).toEqual({
        message: {
          id: expect.any(String),
          senderType: 'AGENT',
          senderAgentId: owner.id,
          body: 'Hello, Zoë! 👋',
          createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          delivery: { status: 'QUEUED', error: null },
          ...UNCHANGED,
        },
      });
      expect(headers).not.toHaveProperty('idempotency-replayed');
      const { message } = body;
      expect(await list()).toEqual([message]);
      expect(await detail()).toMatchObject({
        lastMessagePreview: 'Hello, Zoë! 👋',
        lastMessageAt: message.createdAt,
        updatedAt: message.createdAt,
      });
      expect(await eventsOf(service, workspace, 'message.created')).toEqual([
        {
          conversationId: conversation.id,
          message: {
            id: message.id,
            body: 'Hello, Zoë! 👋',
            senderType: 'AGENT',
            createdAt: message.createdAt,
          },
        },
      ]);
    });

    it('keeps the text exactly as it was sent', async () => {
      const text = '  two\r\n\tlines \u0001 "quoted" \\ é e\u0301 \u202e 👨‍👩‍👧 ';
      expect((await post({ body: text })).body.message.body).toBe(text);
      expect((await list())[0].body).toBe(text);
    });

    it('leaves the status of the conversation alone', async () => {
      await service.make.updateConversation(tenant.workspace, tenant.conversation, { status: 'CLOSED' });
      expect((await post({ body: 'One more thing' })).status).toBe(201);
      expect((await detail()).status).toBe('CLOSED');
    });

    describe('the sender', () => {
      it('is the agent or bot that is named', async () => {
        const bot = await service.make.agent(tenant.workspace, { role: 'AGENT', isBot: true });
        const { status, body } = await post({ body: 'Beep', senderAgentId: bot.id });
        expect(status).toBe(201);
        expect(body.message.senderAgentId).toBe(bot.id);
      });

      it('is else the oldest active OWNER or ADMIN', async () => {
        const workspace = await service.make.workspace();
        const client = service.client.as(await service.make.apiKey(workspace));
        const { id } = await service.make.conversation(workspace);
        const send = async (): Promise<string> =>
          (await client.post(`/conversations/${id}/messages`, { body: 'Hi' })).body.message.senderAgentId;
        await service.make.agent(workspace, { role: 'AGENT' });
        await service.make.agent(workspace, { role: 'OWNER', active: false });
        const admin = await service.make.agent(workspace, { role: 'ADMIN' });
        const owner = await service.make.agent(workspace, { role: 'OWNER' });

        expect(await send()).toBe(admin.id);
        await service.app.get(AgentsService).update(workspace.id, admin.id, { active: false }, SYSTEM);
        expect(await send()).toBe(owner.id);
      });

      it('must be named where there is no active OWNER or ADMIN', async () => {
        const workspace = await service.make.workspace();
        const client = service.client.as(await service.make.apiKey(workspace));
        const { id } = await service.make.conversation(workspace);
        const agent = await service.make.agent(workspace, { role: 'AGENT' });

        const { status, body } = await client.post(`/conversations/${id}/messages`, { body: 'Hi' });
        expect(status).toBe(400);
        const message = 'is required: the workspace has no active OWNER or ADMIN';
        expect(body).toEqual(fieldError('INVALID_BODY', 'senderAgentId', message));

        const named = { body: 'Hi', senderAgentId: agent.id };
        expect((await client.post(`/conversations/${id}/messages`, named)).status).toBe(201);
      });

      it.each([
        ['unknown', () => Promise.resolve(newId())],
        ['no id', () => Promise.resolve('ana')],
        ['empty', () => Promise.resolve('')],
        ['inactive', async () => (await service.make.agent(tenant.workspace, { active: false })).id],
        ["another workspace's", async () => (await createTenant(service)).owner.id],
      ])('is refused when it is %s', async (_, agent) => {
        const { status, body } = await post({ body: 'Hi', senderAgentId: await agent() });
        expect(status).toBe(400);
        expect(body).toEqual(fieldError('INVALID_BODY', 'senderAgentId', NOT_AN_AGENT));
        expect(await list()).toEqual([]);
      });
    });

    describe('the body', () => {
      it.each([
        ['nothing', {}, 'body', 'is required'],
        ['null', { body: null }, 'body', NOT_TEXT],
        ['a number', { body: 5 }, 'body', NOT_TEXT],
        ['an array', { body: ['Hi'] }, 'body', NOT_TEXT],
        ['an object', { body: { text: 'Hi' } }, 'body', NOT_TEXT],
        ['NUL', { body: 'a\0b' }, 'body', NOT_TEXT],
        ['a lone high surrogate', { body: 'a\ud83d' }, 'body', NOT_TEXT],
        ['a lone low surrogate', { body: '\udc4bb' }, 'body', NOT_TEXT],
        ['nothing at all', { body: '' }, 'body', 'must not be blank'],
        ['what cannot be seen', { body: '\u200b\u2800\ufe0f\u3164' }, 'body', 'must not be blank'],
        ['white space', { body: ' \n\t\u00a0\u3000' }, 'body', 'must not be blank'],
        ['4097 characters', { body: 'é'.repeat(4097) }, 'body', 'must be at most 4096 characters'],
        ['a sender that is a number', { body: 'Hi', senderAgentId: 5 }, 'senderAgentId', 'must be a string'],
        ['a field too many', { body: 'Hi', senderType: 'CUSTOMER' }, 'senderType', 'is not a known field'],
        ['__proto__', JSON.parse('{"body":"Hi","__proto__":{}}'), '__proto__', 'is not a known field'],
      ])('may not be %s', async (_, body, field, message) => {
        const answer = await post(body);
        expect(answer.status).toBe(400);
        expect(answer.body).toEqual(fieldError('INVALID_BODY', field, message));
        expect(await list()).toEqual([]);
      });

      it.each([
        ['WIDGET', 'é'.repeat(4096), null],
        ['WIDGET', '👋'.repeat(4096), null],
        ['WHATSAPP', 'a'.repeat(4096), null],
        ['TELEGRAM', 'a'.repeat(4096), null],
        ['MESSENGER', '👋'.repeat(2000), null],
        ['MESSENGER', 'a'.repeat(2001), '2000 characters'],
        ['INSTAGRAM', 'é'.repeat(500), null],
        ['INSTAGRAM', `${'é'.repeat(500)}a`, '1000 UTF-8 bytes'],
        ['INSTAGRAM', 'a'.repeat(1001), '1000 UTF-8 bytes'],
      ] as const)('keeps to the limit of %s', async (channel, text, limit) => {
        const { id } = await service.make.conversation(tenant.workspace, { channel });
        const { status, body } = await tenant.client.post(`/conversations/${id}/messages`, { body: text });
        if (limit === null) {
          expect(status).toBe(201);
          expect(body.message.body).toBe(text);
        } else {
          expect(status).toBe(400);
          const message = `is longer than the ${limit} that ${channel} takes`;
          expect(body).toEqual(fieldError('INVALID_BODY', 'body', message));
        }
      });
    });

    it('refuses a body that is nested deeper than anything it asks for', async () => {
      const raw = `{"body":${'['.repeat(5000)}${']'.repeat(5000)}}`;
      const headers = { 'idempotency-key': 'deep' };
      const { status, body } = await tenant.client.send({
        method: 'POST',
        path: `/api/v1${path()}`,
        raw,
        headers,
      });
      expect(status).toBe(400);
      expect(body).toEqual(errorBody('INVALID_BODY', 'Nothing may be nested more than 20 deep.'));
    });

    it('names no more faults than a person reads', async () => {
      const { status, body } = await post(
        Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`f${n}`, n])),
      );
      expect(status).toBe(400);
      expect(body.error.details).toHaveLength(20);
      expect(body.error.message).toMatch(/; and 481 more\.$/);
    });

    describe('what is sent', () => {
      const send = (raw: string | Buffer, headers: Record<string, string> = {}) =>
        tenant.client.send({ method: 'POST', path: `/api/v1${path()}`, raw, headers });

      it.each([
        ['plain text', '{"body":"Hi"}', { 'content-type': 'text/plain' }, NO_OBJECT],
        ['a form', 'body=Hi', { 'content-type': 'application/x-www-form-urlencoded' }, NO_OBJECT],
        ['an array', '[{"body":"Hi"}]', {}, NO_OBJECT],
        ['a text', '"Hi"', {}, NO_OBJECT],
        ['null', 'null', {}, NO_OBJECT],
        ['broken JSON', '{"body":"Hi"', {}, UNREADABLE],
        ['two values', '{"body":"Hi"}{}', {}, UNREADABLE],
        ['of an unknown encoding', '{"body":"Hi"}', { 'content-encoding': 'x' }, ENCODING],
        ['broken gzip', '{"body":"Hi"}', { 'content-encoding': 'gzip' }, 'The body cannot be read.'],
      ])('is refused when it is %s', async (_, raw, headers, message) => {
        const { status, body } = await send(raw, headers);
        expect(status).toBe(400);
        expect(body).toEqual(errorBody('INVALID_BODY', message));
      });

      const json = (parameters: string) => ({ 'content-type': `application/json${parameters}` });
      const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
      const saying = (bytes: Buffer) => Buffer.concat([Buffer.from('{"body":"'), bytes, Buffer.from('"}')]);

      it.each([
        ['Latin-1, as Windows PowerShell sends it', saying(Buffer.from('Grüße', 'latin1'))],
        ['Windows-1252', saying(hex('35 20 80'))],
        ['Shift_JIS', saying(hex('82 b1 82 f1'))],
        ['GB18030', saying(hex('c4 e3 ba c3'))],
        ['an overlong encoding', saying(hex('c0 af'))],
        ['an encoded surrogate', saying(hex('ed a0 80'))],
        ['beyond Unicode', saying(hex('f4 90 80 80'))],
        ['half a character', saying(hex('f0 9f 98'))],
        ['cut within a character at the end', Buffer.from('{"body":"é', 'utf8').subarray(0, -1)],
        ['UTF-16 with a byte order mark', Buffer.from('\ufeff{"body":"Hi"}', 'utf16le')],
        ['UTF-16 without one', Buffer.from('{"body":"Hi"}', 'utf16le')],
        ['UTF-16, big-endian', Buffer.from('{"body":"Hi"}', 'utf16le').swap16()],
      ])('is refused when it is not UTF-8 (public report 29): %s', async (_, raw) => {
        const { status, body } = await send(raw);
        expect(status).toBe(400);
        expect(body).toEqual(errorBody('INVALID_BODY', 'The body is not UTF-8, as JSON must be.'));
        expect(await list()).toEqual([]);
      });

      it.each([
        '',
        '; charset=utf-8',
        '; charset=UTF-8',
        '; charset="UTF-8"',
        ';charset=utf8',
        '; charset = US-ASCII',
      ])('is UTF-8 by "application/json%s" (public report 31)', async (parameters) => {
        const { status, body } = await send(Buffer.from('{"body":"Grüße, 5 € 😀"}'), json(parameters));
        expect(status).toBe(201);
        expect(body.message.body).toBe('Grüße, 5 € 😀');
      });

      it.each(['iso-8859-1', 'windows-1252', 'utf-16', 'UTF-7', 'x'])(
        'is refused when it is declared as %s, which the answer names (public report 31)',
        async (charset) => {
          const { status, body } = await send('{"body":"Hi"}', json(`; charset=${charset}`));
          expect(status).toBe(400);
          const message = `The body is declared as ${charset}, and only UTF-8 is taken.`;
          expect(body).toEqual(errorBody('INVALID_BODY', message));
        },
      );

      it('may begin with a byte order mark, and repeat a key, of which the last counts', async () => {
        const { status, body } = await send('\ufeff{"body":"First","body":"Last"}');
        expect([status, body.message.body]).toEqual([201, 'Last']);
      });

      it('may be compressed UTF-8', async () => {
        const compressed = gzipSync('{"body":"Grüße"}');
        expect((await send(compressed, { 'content-encoding': 'gzip' })).body.message.body).toBe('Grüße');
        const latin = gzipSync(Buffer.from('{"body":"Grüße"}', 'latin1'));
        expect((await send(latin, { 'content-encoding': 'gzip' })).status).toBe(400);
      });

      it('is refused when it is nothing', async () => {
        const { status, body } = await send('');
        expect(status).toBe(400);
        expect(body).toEqual(fieldError('INVALID_BODY', 'body', 'is required'));
      });

      it('may have 256 KiB, and no byte more', async () => {
        const sized = (bytes: number) => {
          const frame = JSON.stringify({ body: 'Hi', pad: '' });
          return JSON.stringify({ body: 'Hi', pad: 'x'.repeat(bytes - frame.length) });
        };
        const fits = await send(sized(256 * 1024));
        expect(fits.body).toEqual(fieldError('INVALID_BODY', 'pad', 'is not a known field'));
        const tooLarge = await send(sized(256 * 1024 + 1));
        expect(tooLarge.status).toBe(413);
        expect(tooLarge.body).toEqual(errorBody('PAYLOAD_TOO_LARGE', 'The body is larger than 256 KiB.'));
      });
    });
  });

  describe('an Idempotency-Key', () => {
    const once = (key: string, body: object = { body: 'Once' }) => post(body, { 'idempotency-key': key });
    const replayed = ({ headers }: ApiResponse) => headers['idempotency-replayed'];

    it('gives the first answer again, and does nothing again', async () => {
      const first = await once('k1');
      const second = await once('k1');
      expect([first.status, second.status]).toEqual([201, 201]);
      expect(second.body).toEqual(first.body);
      expect([replayed(first), replayed(second)]).toEqual([undefined, 'true']);
      expect(await list()).toHaveLength(1);
      expect(await eventsOf(service, tenant.workspace, 'message.created')).toHaveLength(1);
    });

    it('gives the first answer again although things have changed since', async () => {
      const first = await once('k2');
      await service.make.received(tenant.workspace, tenant.conversation);
      await service.make.agent(tenant.workspace);
      await service.app
        .get(AgentsService)
        .update(tenant.workspace.id, tenant.owner.id, { active: false }, SYSTEM);
      expect((await once('k2')).body).toEqual(first.body);
    });

    it('conflicts with another body, another sender and another conversation', async () => {
      await once('k3');
      const other = await service.make.conversation(tenant.workspace);
      const conflicts = [
        await once('k3', { body: 'Twice' }),
        await once('k3', { body: 'Once', senderAgentId: tenant.owner.id }),
        await tenant.client.post(
          `/conversations/${other.id}/messages`,
          { body: 'Once' },
          { 'idempotency-key': 'k3' },
        ),
      ];
      for (const { status, body } of conflicts) {
        expect(status).toBe(409);
        expect(body).toEqual(
          errorBody('IDEMPOTENCY_CONFLICT', 'This Idempotency-Key was used for another request.'),
        );
      }
      expect(await list()).toHaveLength(1);
    });

    it('is of the same request however its JSON is written (public report 34)', async () => {
      const sender = tenant.owner.id;
      const send = (raw: string) =>
        tenant.client.send({
          method: 'POST',
          path: `/api/v1${path()}`,
          raw,
          headers: { 'idempotency-key': 'json', 'content-type': 'application/json' },
        });
      const first = await send(`{"body":"é €","senderAgentId":"${sender}"}`);
      expect(first.status).toBe(201);
      for (const same of [
        `{"senderAgentId":"${sender}","body":"é €"}`,
        ` {\n "senderAgentId" : "${sender}", "body" : "\\u00e9 \\u20AC" }`,
        `{"body":"other","body":"é €","senderAgentId":"${sender}"}`,
      ]) {
        const again = await send(same);
        expect([again.status, replayed(again)]).toEqual([201, 'true']);
        expect(again.body).toEqual(first.body);
      }
      for (const other of [
        '{"body":"é €"}',
        `{"body":"e\u0301 €","senderAgentId":"${sender}"}`,
        `{"body":"é € ","senderAgentId":"${sender}"}`,
      ])
        expect((await send(other)).status).toBe(409);
      expect(await list()).toHaveLength(1);
    });

    it('counts null in an optional field as left out (public reports 34 and 35)', async () => {
      const first = await once('null', { body: 'Once', senderAgentId: null });
      const again = await once('null', { body: 'Once' });
      expect([first.status, again.status, replayed(again)]).toEqual([201, 201, 'true']);
      expect(first.body.message.senderAgentId).toBe(tenant.owner.id);
      expect((await post({ body: null })).body).toEqual(fieldError('INVALID_BODY', 'body', NOT_TEXT));
    });

    it('of the version before still counts', async () => {
      const body = { senderAgentId: tenant.owner.id, body: 'Once' };
      const first = await once('before', body);
      const asSent = createHash('sha256')
        .update(`POST\n/api/v1${path()}\n${JSON.stringify(body)}`)
        .digest();
      await service.query('UPDATE idempotency_keys SET fingerprint = $2 WHERE tenant_id = $1', [
        tenant.workspace.id,
        asSent,
      ]);
      const again = await once('before', body);
      expect([again.status, replayed(again)]).toEqual([201, 'true']);
      expect(again.body).toEqual(first.body);
      expect((await once('before', { ...body, body: 'Twice' })).status).toBe(409);
    });

    it('makes one message of concurrent twins', async () => {
      const answers = await Promise.all(Array.from({ length: 6 }, () => once('k4')));
      expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(201));
      expect(new Set(answers.map(({ body }) => body.message.id)).size).toBe(1);
      expect(answers.filter((answer) => replayed(answer) === undefined)).toHaveLength(1);
      expect(await list()).toHaveLength(1);
    });

    it('lets one of concurrent rivals win', async () => {
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, i) => once('k5', { body: `Rival ${i}` })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
      expect(await list()).toHaveLength(1);
    });

    it('is free again after a request that failed', async () => {
      const failed = await once('k6', { body: 'Once', senderAgentId: newId() });
      expect(failed.status).toBe(400);
      const corrected = await once('k6');
      expect([corrected.status, replayed(corrected)]).toEqual([201, undefined]);
    });

    it('is forgotten after 24 hours', async () => {
      const first = await once('k7');
      const age = (interval: string) =>
        service.query(`UPDATE idempotency_keys SET created_at = now() - $2::interval WHERE tenant_id = $1`, [
          tenant.workspace.id,
          interval,
        ]);
      await age('23 hours 59 minutes');
      expect(replayed(await once('k7'))).toBe('true');
      await age('24 hours 1 minute');
      const other = await once('k7', { body: 'Something else' });
      expect([other.status, replayed(other)]).toEqual([201, undefined]);
      expect(other.body.message.id).not.toBe(first.body.message.id);
      expect(replayed(await once('k7', { body: 'Something else' }))).toBe('true');
    });

    it("is the workspace's own", async () => {
      const stranger = await createTenant(service);
      await once('k8');
      const theirs = await stranger.client.post(
        `/conversations/${stranger.conversation.id}/messages`,
        { body: 'Once' },
        { 'idempotency-key': 'k8' },
      );
      expect([theirs.status, replayed(theirs)]).toEqual([201, undefined]);
    });

    it("counts for all of the workspace's keys", async () => {
      await once('k9');
      const client = service.client.as(await service.make.apiKey(tenant.workspace, ['messages:write']));
      const again = await client.post(path(), { body: 'Once' }, { 'idempotency-key': 'k9' });
      expect([again.status, replayed(again)]).toEqual([201, 'true']);
    });

    it.each(['', 'x'.repeat(256), 'caf\u00e9', 'a\tb'])('may not be %j', async (key) => {
      const { status, body } = await once(key);
      expect(status).toBe(400);
      expect(body).toEqual(
        fieldError('INVALID_BODY', 'Idempotency-Key', 'must be 1 to 255 printable ASCII characters'),
      );
    });

    it('may have 255 characters', async () => {
      expect((await once('x'.repeat(255))).status).toBe(201);
    });
  });

  describe('a message received from the customer', () => {
    it.each(['SNOOZED', 'CLOSED'] as const)(
      'reopens a %s conversation, and appends an event',
      async (from) => {
        const { workspace, conversation } = tenant;
        await service.make.updateConversation(workspace, conversation, { status: from });
        const message = await service.make.received(workspace, conversation, 'Hello?');
        expect((await detail()).status).toBe('OPEN');
        expect(await eventsOf(service, workspace, 'message.created')).toEqual([
          {
            conversationId: conversation.id,
            message: {
              id: message.id,
              body: 'Hello?',
              senderType: 'CUSTOMER',
              createdAt: message.createdAt.toISOString(),
            },
          },
        ]);
        expect(await eventsOf(service, workspace, 'conversation.updated')).toEqual([
          { conversationId: conversation.id, status: from },
          { conversationId: conversation.id, status: 'OPEN' },
        ]);
      },
    );

    it('is stored, with its event, after an expired trial too', async () => {
      const expired = await createTenant(service, service.make.expiredTrial());
      await service.make.received(expired.workspace, expired.conversation, 'Hello?');
      expect(await eventsOf(service, expired.workspace, 'message.created')).toHaveLength(1);
    });

    it('leaves an open conversation as it is', async () => {
      await service.make.received(tenant.workspace, tenant.conversation);
      expect(await eventsOf(service, tenant.workspace, 'conversation.updated')).toEqual([]);
    });
  });

  describe('the preview', () => {
    it.each([
      ['is the latest message', 'Short', 'Short'],
      ['is on one line', ' a\n\n b\tc ', 'a b c'],
      ['has 140 characters', 'x'.repeat(141), 'x'.repeat(140)],
      ['is cut between graphemes', `${'x'.repeat(139)}e\u0301y`, 'x'.repeat(139)],
    ])('%s', async (_, text, preview) => {
      await service.make.received(tenant.workspace, tenant.conversation, 'Something before');
      await post({ body: text });
      expect((await detail()).lastMessagePreview).toBe(preview);
    });
  });

  describe('the order within a conversation', () => {
    it('puts no message behind a reader that has passed', async () => {
      const total = 20;
      let posting = true;
      const posts = Promise.all(Array.from({ length: total }, (_, i) => post({ body: `No. ${i}` }))).finally(
        () => {
          posting = false;
        },
      );
      const seen = new Set<string>();
      let newest = '';
      for (let last = false; !last;) {
        last = !posting;
        const fresh = idsOf(await list()).filter((id) => !seen.has(id));
        for (const id of fresh) {
          expect(id > newest).toBe(true);
          seen.add(id);
        }
        newest = fresh[0] ?? newest;
      }
      const answers = await posts;
      expect(answers.map(({ status }) => status)).toEqual(Array(total).fill(201));
      expect([...seen].sort()).toEqual(answers.map(({ body }) => body.message.id).sort());
    });

    it('is kept although the clock of the one before was ahead', async () => {
      const { workspace, conversation } = tenant;
      const ahead = 'ffffffff-ffff-7fff-bfff-000000000000';
      const { id } = await service.make.received(workspace, conversation, 'From the future');
      await service.query('UPDATE messages SET id = $2 WHERE id = $1', [id, ahead]);
      await service.query('UPDATE conversations SET last_message_id = $2 WHERE id = $1', [
        conversation.id,
        ahead,
      ]);
      await post({ body: 'Second' });
      await post({ body: 'Third' });
      expect((await list()).map(({ body }) => body)).toEqual(['Third', 'Second', 'From the future']);
    });
  });
});
