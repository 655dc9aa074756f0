import { CHANNELS } from '../../src/common/channel-descriptors';
import { newId } from '../../src/common/ids';
import { CONVERSATION_STATUSES } from '../../src/conversations/conversation.entity';
import { errorBody, fieldError } from '../support/errors';
import { eventsOf } from '../support/events';
import { createTenant, Tenant } from '../support/routes';
import { TestService } from '../support/service';

const LIMIT = 'must be a whole number from 1 to 200';
const CURSOR = 'must be the nextCursor of an earlier page: leave it out for the first page';

describe('conversations', () => {
  let service: TestService;
  let tenant: Tenant;

  beforeAll(async () => {
    service = await TestService.create();
  });
  beforeEach(async () => {
    tenant = await createTenant(service, service.make.workspace({ rateLimit: 100_000 }));
  });

  describe('GET /api/v1/conversations', () => {
    it('lists them, newest first', async () => {
      const { workspace, client, conversation: first } = tenant;
      const second = await service.make.conversation(workspace, { channel: 'WHATSAPP' });
      const message = await service.make.received(workspace, first, 'Hello there');

      const { status, body } = await client.get('/conversations');

      expect(status).toBe(200);
      expect(body).toEqual({
        data: [
          {
            id: second.id,
            sourceChannel: 'WHATSAPP',
            status: 'OPEN',
            snoozedUntil: null,
            waitingSince: null,
            assignedAgentId: null,
            lastMessagePreview: null,
            lastMessageAt: null,
            createdAt: second.createdAt.toISOString(),
          },
          {
            id: first.id,
            sourceChannel: 'WIDGET',
            status: 'OPEN',
            snoozedUntil: null,
            waitingSince: expect.any(String),
            assignedAgentId: null,
            lastMessagePreview: 'Hello there',
            lastMessageAt: message.createdAt.toISOString(),
            createdAt: first.createdAt.toISOString(),
          },
        ],
        nextCursor: null,
      });
    });

    it('is empty in a new workspace', async () => {
      const client = service.client.as(await service.make.apiKey(await service.make.workspace()));
      expect((await client.get('/conversations')).body).toEqual({ data: [], nextCursor: null });
    });

    it('filters by status, by channel and by both', async () => {
      const { workspace, owner, client, conversation } = tenant;
      const made: Record<string, string> = {};
      for (const channel of CHANNELS) {
        for (const status of CONVERSATION_STATUSES) {
          const { id } = await service.make.conversation(workspace, {
            channel,
            contactId: conversation.contact.id,
          });
          await service.make.updateConversation(workspace, { id }, { status, assignedAgentId: owner.id });
          made[`${status} ${channel}`] = id;
        }
      }
      await service.make.updateConversation(workspace, conversation, { status: 'CLOSED' });
      const idsOf = async (query: string) =>
        (await client.all(`/conversations?${query}`, 4)).map(({ id }) => id).sort();

      for (const status of CONVERSATION_STATUSES) {
        const expected = CHANNELS.map((channel) => made[`${status} ${channel}`]);
        if (status === 'CLOSED') expected.push(conversation.id);
        expect(await idsOf(`status=${status}`)).toEqual(expected.sort());
      }
      for (const channel of CHANNELS) {
        const expected = CONVERSATION_STATUSES.map((status) => made[`${status} ${channel}`]);
        if (channel === 'WIDGET') expected.push(conversation.id);
        expect(await idsOf(`channel=${channel}`)).toEqual(expected.sort());
        expect(await idsOf(`channel=${channel}&status=OPEN`)).toEqual([made[`OPEN ${channel}`]]);
      }
    });

    it.each([
      ['limit=0', 'limit', LIMIT],
      ['limit=201', 'limit', LIMIT],
      ['limit=-1', 'limit', LIMIT],
      ['limit=x', 'limit', LIMIT],
      ['limit=1.5', 'limit', LIMIT],
      ['limit=1e2', 'limit', LIMIT],
      ['limit=', 'limit', LIMIT],
      ['limit=%2050', 'limit', LIMIT],
      ['limit=9999999999', 'limit', LIMIT],
      ['limit=10&limit=10', 'limit', LIMIT],
      ['cursor=x', 'cursor', CURSOR],
      ['cursor=', 'cursor', CURSOR],
      ['cursor=019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a1z', 'cursor', CURSOR],
      [`cursor=${newId()}&cursor=${newId()}`, 'cursor', CURSOR],
      ['status=open', 'status', 'must be one of the following values: OPEN, SNOOZED, CLOSED'],
      ['status=', 'status', 'must be one of the following values: OPEN, SNOOZED, CLOSED'],
      ['status=OPEN&status=CLOSED', 'status', 'must be one of the following values: OPEN, SNOOZED, CLOSED'],
      [
        'channel=FAX',
        'channel',
        'must be one of the following values: WIDGET, WHATSAPP, TELEGRAM, MESSENGER, INSTAGRAM',
      ],
      ['page=2', 'page', 'is not a known field'],
      ['limit[]=5', 'limit[]', 'is not a known field'],
      ['tenantId=x', 'tenantId', 'is not a known field'],
      ['__proto__=x', '__proto__', 'is not a known field'],
      ['constructor=x', 'constructor', 'is not a known field'],
      ['toString=x', 'toString', 'is not a known field'],
      ['hasOwnProperty=x', 'hasOwnProperty', 'is not a known field'],
    ])('refuses ?%s', async (query, field, message) => {
      const { status, body } = await tenant.client.get(`/conversations?${query}`);
      expect(status).toBe(400);
      expect(body).toEqual(fieldError('INVALID_QUERY', field, message));
    });

    it('names every fault at once', async () => {
      const { body } = await tenant.client.get('/conversations?limit=0&status=x&colour=red');
      expect(body.error.code).toBe('INVALID_QUERY');
      expect(body.error.details.map(({ field }: { field: string }) => field).sort()).toEqual([
        'colour',
        'limit',
        'status',
      ]);
    });

    describe('pages', () => {
      const makeMany = async (count: number): Promise<string[]> => {
        const ids: string[] = [tenant.conversation.id];
        while (ids.length < count)
          ids.push(
            (await service.make.conversation(tenant.workspace, { contactId: tenant.conversation.contact.id }))
              .id,
          );
        return ids.reverse();
      };

      it('have 50 rows by default, and at most 200', async () => {
        const ids = await makeMany(202);
        const page = async (query: string) => (await tenant.client.get(`/conversations${query}`)).body;
        expect((await page('')).data).toHaveLength(50);
        expect((await page('?limit=1')).data).toHaveLength(1);
        const longest = await page('?limit=200');
        expect(longest.data).toHaveLength(200);
        expect(longest.nextCursor).toBe(ids[199]);
        expect((await page(`?cursor=${longest.nextCursor}`)).data).toHaveLength(2);
      });

      it('have a next one exactly when more rows follow', async () => {
        const ids = await makeMany(4);
        for (const limit of [1, 2, 3, 4, 5]) {
          const { data, nextCursor } = (await tenant.client.get(`/conversations?limit=${limit}`)).body;
          expect(data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, limit));
          expect(nextCursor).toBe(limit < 4 ? ids[limit - 1] : null);
        }
        expect((await tenant.client.all('/conversations', 3)).map(({ id }) => id)).toEqual(ids);
      });

      it('neither repeat nor lose a row while others are added and change', async () => {
        const { client, workspace, conversation } = tenant;
        const ids = await makeMany(7);
        const seen: string[] = [];
        let cursor: string | null = '';
        while (cursor !== null) {
          const page = await client.get(`/conversations?limit=2${cursor && `&cursor=${cursor}`}`);
          seen.push(...page.body.data.map(({ id }: { id: string }) => id));
          cursor = page.body.nextCursor as string | null;
          await service.make.conversation(workspace, { contactId: conversation.contact.id });
          await service.make.received(workspace, { id: ids[6]! }, 'Moves it nowhere');
          await service.make.updateConversation(workspace, { id: ids[0]! }, { status: 'CLOSED' });
        }
        expect(seen).toEqual(ids);
      });

      it('go on from a row that no longer matches the filter', async () => {
        const { client, workspace } = tenant;
        const ids = await makeMany(5);
        const { nextCursor } = (await client.get('/conversations?status=OPEN&limit=2')).body;
        await service.make.updateConversation(workspace, { id: nextCursor }, { status: 'CLOSED' });
        const rest = await client.get(`/conversations?status=OPEN&limit=5&cursor=${nextCursor}`);
        expect(rest.body.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(2));
      });

      it('go on from a row that is gone', async () => {
        const { client } = tenant;
        const ids = await makeMany(4);
        await service.query('DELETE FROM conversations WHERE id = $1', [ids[1]]);
        const { data } = (await client.get(`/conversations?cursor=${ids[1]}`)).body;
        expect(data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(2));
      });

      it("shows nothing of another workspace's below its cursor", async () => {
        const stranger = await createTenant(service);
        const { body } = await tenant.client.get(`/conversations?cursor=${stranger.conversation.id}`);
        expect(body.data.map(({ id }: { id: string }) => id)).toEqual([tenant.conversation.id]);
      });
    });
  });

  describe('GET /api/v1/conversations, with more filters', () => {
    const idsOf = async (query: string, limit = 2): Promise<string[]> =>
      (await tenant.client.all(`/conversations?${query}`, limit)).map(({ id }) => id as string);

    it("finds those of an agent, and nobody's, newest first", async () => {
      const { workspace, owner, conversation: first } = tenant;
      const made: string[] = [first.id];
      for (let n = 0; n < 5; n++) made.unshift((await service.make.conversation(workspace)).id);
      const own = [made[0]!, made[2]!, made[4]!];
      for (const id of own)
        await service.make.updateConversation(workspace, { id }, { assignedAgentId: owner.id });
      await service.make.updateConversation(workspace, { id: made[2]! }, { status: 'CLOSED' });
      await service.make.received(workspace, { id: made[4]! });
      expect(await idsOf(`assignedAgentId=${owner.id}`)).toEqual(own);
      expect(await idsOf(`assignedAgentId=${owner.id}&status=OPEN`)).toEqual([made[0], made[4]]);
      expect(await idsOf('assignedAgentId=nobody')).toEqual([made[1], made[3], made[5]]);
      expect(await idsOf(`assignedAgentId=${owner.id}&sort=activity`)).toEqual([made[4], made[0], made[2]]);
    });

    it('finds those of a contact, with other filters', async () => {
      const { workspace, conversation: other } = tenant;
      const { id: contactId } = await service.make.contact(workspace);
      const made: string[] = [];
      for (const channel of ['WIDGET', 'TELEGRAM', 'WIDGET'] as const)
        made.unshift((await service.make.conversation(workspace, { channel, contactId })).id);
      await service.make.received(workspace, { id: made[2]! });
      await service.make.updateConversation(workspace, { id: made[0]! }, { status: 'CLOSED' });
      expect(await idsOf(`contactId=${contactId}`)).toEqual(made);
      expect(await idsOf(`contactId=${contactId}&channel=WIDGET`)).toEqual([made[0], made[2]]);
      expect(await idsOf(`contactId=${contactId}&status=OPEN`)).toEqual([made[1], made[2]]);
      expect(await idsOf(`contactId=${contactId}&sort=activity`)).toEqual([made[2], made[0], made[1]]);
      expect(await idsOf(`contactId=${other.contact.id}`)).toEqual([other.id]);
    });

    it('finds those that have changed since a time: by a message, a status or an agent', async () => {
      const { workspace, owner } = tenant;
      const made: string[] = [];
      for (let n = 0; n < 4; n++) made.unshift((await service.make.conversation(workspace)).id);
      const dayBefore = (at: string) => `(${at} AT TIME ZONE 'UTC' - interval '1 day') AT TIME ZONE 'UTC'`;
      await service.query(
        `UPDATE conversations SET created_at = ${dayBefore('created_at')}, updated_at = ${dayBefore('updated_at')}
         WHERE tenant_id = $1`,
        [workspace.id],
      );
      const since = new Date(Date.now() - 60_000).toISOString();
      await service.make.received(workspace, { id: made[3]! });
      await service.make.updateConversation(workspace, { id: made[1]! }, { status: 'CLOSED' });
      await service.make.updateConversation(workspace, { id: made[2]! }, { assignedAgentId: owner.id });
      expect(await idsOf(`updatedSince=${since}`)).toEqual([made[1], made[2], made[3]]);
      expect(await idsOf(`updatedSince=${since}&status=OPEN`)).toEqual([made[2], made[3]]);
      expect(await idsOf(`updatedSince=${since}&assignedAgentId=nobody`)).toEqual([made[1], made[3]]);
      expect(await idsOf(`updatedSince=${since}&sort=activity`)).toEqual([made[3], made[1], made[2]]);
      expect(await idsOf(`updatedSince=${new Date(Date.now() + 60_000).toISOString()}`)).toEqual([]);
      expect(await idsOf('updatedSince=1970-01-01T00:00:00Z')).toHaveLength(5);
    });

    it('lists by latest activity, with the contact, and repeats none that moves', async () => {
      const { client, workspace, conversation: first } = tenant;
      const made: string[] = [first.id];
      for (let n = 0; n < 5; n++) made.unshift((await service.make.conversation(workspace)).id);
      await service.make.received(workspace, first);
      await service.make.updateConversation(workspace, { id: made[1]! }, { status: 'CLOSED' });
      const { body } = await client.get('/conversations?sort=activity&limit=2');
      expect(body.data[0]).toEqual({
        ...(await client.get('/conversations?limit=200')).body.data.at(-1),
        contact: { id: first.contact.id, name: 'Zoë Martín' },
      });
      expect(body.data.map(({ id }: { id: string }) => id)).toEqual([first.id, made[0]]);
      // One that was shown moves to the top, and so does one that was not.
      await service.make.received(workspace, { id: made[0]! });
      await service.make.received(workspace, { id: made[4]! });
      const rest = await client.get(`/conversations?sort=activity&cursor=${body.nextCursor}`);
      expect(rest.body.data.map(({ id }: { id: string }) => id)).toEqual([made[1], made[2], made[3]]);
      expect(await idsOf('sort=activity')).toEqual([made[4], made[0], first.id, made[1], made[2], made[3]]);
      expect(await idsOf('sort=activity&channel=WIDGET&status=OPEN')).toHaveLength(5);
      expect(await idsOf('sort=activity&channel=TELEGRAM')).toEqual([]);
    });

    it('lists those whose customer waits for a reply, the longest waiting first', async () => {
      const { client, workspace, conversation: first } = tenant;
      const made = [first.id];
      for (let n = 0; n < 3; n++) made.push((await service.make.conversation(workspace)).id);
      for (const n of [2, 0, 3, 2]) await service.make.received(workspace, { id: made[n]! });
      expect(await idsOf('needsReply=true')).toEqual([made[2], made[0], made[3]]);
      const { body } = await client.get('/conversations?needsReply=true&limit=2');
      const rest = await client.get(`/conversations?needsReply=true&cursor=${body.nextCursor}`);
      expect(rest.body.data.map(({ id }: { id: string }) => id)).toEqual([made[3]]);
      expect(body.data[1]).toMatchObject({
        contact: { name: 'Zoë Martín' },
        waitingSince: body.data[1].lastMessageAt,
      });
      await client.post(`/conversations/${made[0]}/messages`, { body: 'Here it is.' });
      await client.patch(`/conversations/${made[2]}`, { status: 'SNOOZED' });
      expect(await idsOf('needsReply=true')).toEqual([made[3]]);
      expect(await idsOf('needsReply=true&channel=WIDGET&status=OPEN')).toEqual([made[3]]);
      for (const none of ['channel=TELEGRAM', 'status=CLOSED', 'assignedAgentId=nobody&contactId=x'])
        expect(await idsOf(`needsReply=true&${none}`)).toEqual([]);
      const { status, body: refusal } = await client.get('/conversations?needsReply=true&sort=activity');
      expect([status, refusal.error.code]).toEqual([400, 'INVALID_QUERY']);
      expect((await client.get('/conversations?needsReply=yes')).status).toBe(400);
      expect((await client.get(`/conversations/${made[3]}`)).body.waitingSince).toEqual(expect.any(String));
    });

    it("finds nothing by another workspace's ids", async () => {
      const { owner, conversation } = await createTenant(service);
      for (const id of [owner.id, newId(), 'ana']) expect(await idsOf(`assignedAgentId=${id}`)).toEqual([]);
      for (const id of [conversation.contact.id, newId(), 'zoe'])
        expect(await idsOf(`contactId=${id}`)).toEqual([]);
    });

    it.each([
      ['updatedSince=yesterday', 'updatedSince', 'must be an ISO 8601 date'],
      ['updatedSince=2026-11-20', 'updatedSince', 'must be an ISO 8601 date'],
      ['sort=created', 'sort', 'must be one of the following values: activity'],
      ['contactId=a&contactId=b', 'contactId', 'must be a string'],
      ['assignedAgentId=a&assignedAgentId=b', 'assignedAgentId', 'must be a string'],
    ])('refuses ?%s', async (query, field, message) => {
      const { status, body } = await tenant.client.get(`/conversations?${query}`);
      expect(status).toBe(400);
      expect(body).toEqual(fieldError('INVALID_QUERY', field, message));
    });
  });

  describe('POST /api/v1/conversations', () => {
    it('opens one with a contact whom the workspace can reach, as the doing of the key', async () => {
      const { client, workspace, key, reachContact } = tenant;
      const contactId = await reachContact();
      const { status, body } = await client.post('/conversations', { contactId, channel: 'WIDGET' });
      expect(status).toBe(201);
      expect(body).toEqual({
        id: expect.any(String),
        sourceChannel: 'WIDGET',
        status: 'OPEN',
        snoozedUntil: null,
        waitingSince: null,
        assignedAgentId: null,
        lastMessagePreview: null,
        lastMessageAt: null,
        createdAt: expect.any(String),
        updatedAt: body.createdAt,
      });
      const detail = (await client.get(`/conversations/${body.id}`)).body;
      expect(detail).toMatchObject({ ...body, contact: { id: contactId } });
      const audited = await eventsOf(service, workspace, 'audit.event');
      expect(audited.filter(({ entityId }) => entityId === body.id)).toEqual([
        expect.objectContaining({ action: 'conversation.created', actorId: key.id }),
      ]);
      expect((await client.post(`/conversations/${body.id}/messages`, { body: 'Hello' })).status).toBe(201);
    });

    it('is what the customer goes on with', async () => {
      const { client, workspace, reachContact } = tenant;
      const contactId = await reachContact();
      const { body } = await client.post('/conversations', { contactId, channel: 'WIDGET' });
      const [row] = await service.query<{ identity_external_id: string }>(
        'SELECT identity_external_id FROM conversations WHERE tenant_id = $1 AND id = $2',
        [workspace.id, body.id],
      );
      expect(row).toEqual({ identity_external_id: 'visitor-1' });
    });

    it('opens one conversation for one Idempotency-Key', async () => {
      const { client, reachContact } = tenant;
      const contactId = await reachContact();
      const post = (body: object) => client.post('/conversations', body, { 'Idempotency-Key': 'welcome' });
      const answers = await Promise.all([1, 2].map(() => post({ contactId, channel: 'WIDGET' })));
      expect(answers.map(({ status }) => status)).toEqual([201, 201]);
      expect(answers[0]!.body).toEqual(answers[1]!.body);
      expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === 'true')).toHaveLength(1);
      expect(await client.all(`/conversations?contactId=${contactId}`, 10)).toHaveLength(1);
      const other = await post({ contactId, channel: 'TELEGRAM' });
      expect([other.status, other.body.error.code]).toEqual([409, 'IDEMPOTENCY_CONFLICT']);
    });

    it('refuses a channel on which the workspace is not connected', async () => {
      const contactId = await tenant.reachContact();
      const { status, body } = await tenant.client.post('/conversations', { contactId, channel: 'WHATSAPP' });
      expect(status).toBe(400);
      expect(body).toEqual(
        fieldError('INVALID_BODY', 'channel', 'is one on which the workspace is not connected: WhatsApp'),
      );
    });

    it('refuses a contact who has no id on the channel', async () => {
      await tenant.reachContact();
      const contactId = tenant.conversation.contact.id;
      const { status, body } = await tenant.client.post('/conversations', { contactId, channel: 'WIDGET' });
      expect(status).toBe(400);
      expect(body).toEqual(
        fieldError('INVALID_BODY', 'contactId', 'is that of a contact without an id on Widget'),
      );
    });

    it('refuses a contact who is erased, also while an id on the channel is left', async () => {
      const { client, workspace, reachContact } = tenant;
      const contactId = await reachContact();
      await service.query('UPDATE contacts SET erased_at = now() WHERE tenant_id = $1 AND id = $2', [
        workspace.id,
        contactId,
      ]);
      const { status, body } = await client.post('/conversations', { contactId, channel: 'WIDGET' });
      expect([status, body.error.details[0].field]).toEqual([400, 'contactId']);
    });

    it("does not find another workspace's contact", async () => {
      const stranger = await createTenant(service);
      await tenant.reachContact();
      for (const contactId of [await stranger.reachContact(), newId(), 'zoe']) {
        const { status, body } = await tenant.client.post('/conversations', { contactId, channel: 'WIDGET' });
        expect(status).toBe(404);
        expect(body).toEqual(errorBody('NOT_FOUND', 'Contact not found.'));
      }
    });

    it.each([
      [{}, ['contactId', 'channel']],
      [{ contactId: 'x', channel: 'FAX' }, ['channel']],
      [{ contactId: 'x', channel: 'WIDGET', status: 'CLOSED' }, ['status']],
    ])('refuses %j', async (body, fields) => {
      const answer = await tenant.client.post('/conversations', body);
      expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_BODY']);
      expect(answer.body.error.details.map(({ field }: { field: string }) => field)).toEqual(fields);
    });
  });

  describe('GET /api/v1/conversations/:id', () => {
    it('answers the conversation with its contact', async () => {
      const { workspace, client, owner } = tenant;
      const contact = await service.make.contact(workspace, {
        name: 'Zoë Martín',
        email: 'zoe@example.com',
        phone: '+34 600 11 22 33',
      });
      await service.query(
        `INSERT INTO contact_identities (tenant_id, channel, external_id, contact_id, created_at)
         VALUES ($1, 'TELEGRAM', '77', $2, now())`,
        [workspace.id, contact.id],
      );
      const { id } = await service.make.conversation(workspace, {
        channel: 'TELEGRAM',
        contactId: contact.id,
      });
      await service.make.updateConversation(
        workspace,
        { id },
        { status: 'SNOOZED', assignedAgentId: owner.id },
      );

      const { status, body } = await client.get(`/conversations/${id}`);

      expect(status).toBe(200);
      expect(body).toEqual({
        id,
        sourceChannel: 'TELEGRAM',
        status: 'SNOOZED',
        snoozedUntil: null,
        waitingSince: null,
        assignedAgentId: owner.id,
        lastMessagePreview: null,
        lastMessageAt: null,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updatedAt: expect.stringMatching(/Z$/),
        contact: {
          id: contact.id,
          name: 'Zoë Martín',
          email: 'zoe@example.com',
          phone: '+34 600 11 22 33',
          avatarUrl: null,
          identities: [{ channel: 'TELEGRAM', externalId: '77' }],
          verified: [],
          attributes: {},
          createdAt: contact.createdAt.toISOString(),
          updatedAt: contact.updatedAt.toISOString(),
        },
      });
    });

    it('knows an id only as it was given', async () => {
      const { client, conversation } = tenant;
      const { status, body } = await client.get(`/conversations/${conversation.id.toUpperCase()}`);
      expect(status).toBe(404);
      expect(body).toEqual(errorBody('NOT_FOUND', 'Conversation not found.'));
    });
  });

  describe('PATCH /api/v1/conversations/:id', () => {
    const patch = (body: unknown) => tenant.client.patch(`/conversations/${tenant.conversation.id}`, body);
    const updates = () => eventsOf(service, tenant.workspace, 'conversation.updated');

    it('changes status and assignment, answers without the contact, and appends one event', async () => {
      const { conversation, owner } = tenant;

      const { status, body } = await patch({ status: 'CLOSED', assignedAgentId: owner.id });

      expect(status).toBe(200);
      expect(body).toEqual({
        id: conversation.id,
        sourceChannel: 'WIDGET',
        status: 'CLOSED',
        snoozedUntil: null,
        waitingSince: null,
        assignedAgentId: owner.id,
        lastMessagePreview: null,
        lastMessageAt: null,
        createdAt: conversation.createdAt.toISOString(),
        updatedAt: expect.any(String),
      });
      expect(await updates()).toEqual([
        { conversationId: conversation.id, status: 'CLOSED', assignedAgentId: owner.id },
      ]);
      const { contact, ...detail } = (await tenant.client.get(`/conversations/${conversation.id}`)).body;
      expect(contact.id).toBe(conversation.contact.id);
      expect(detail).toEqual(body);
    });

    it('moves any status to any other', async () => {
      for (const from of CONVERSATION_STATUSES) {
        for (const to of CONVERSATION_STATUSES) {
          await patch({ status: from });
          const { status, body } = await patch({ status: to });
          expect([status, body.status]).toEqual([200, to]);
        }
      }
    });

    it('removes the assignment with null, also in the event', async () => {
      await patch({ assignedAgentId: tenant.owner.id });
      expect((await patch({ assignedAgentId: null })).body.assignedAgentId).toBeNull();
      expect(await updates()).toEqual([
        { conversationId: tenant.conversation.id, assignedAgentId: tenant.owner.id },
        { conversationId: tenant.conversation.id, assignedAgentId: null },
      ]);
    });

    it('appends no event and changes no row where nothing changes', async () => {
      const before = (await tenant.client.get(`/conversations/${tenant.conversation.id}`)).body;
      for (const same of [
        { status: 'OPEN' },
        { assignedAgentId: null },
        { status: 'OPEN', assignedAgentId: null },
      ])
        expect((await patch(same)).status).toBe(200);
      expect((await tenant.client.get(`/conversations/${tenant.conversation.id}`)).body).toEqual(before);
      expect(await updates()).toEqual([]);
    });

    it('is audited, as the doing of the key, and from where', async () => {
      const { conversation, key, owner, workspace } = tenant;
      const headers = { 'X-Request-Id': 'audited', 'User-Agent': 'crm/1.0' };
      const client = tenant.client.with(headers);
      const patch = (changes: object) => client.patch(`/conversations/${conversation.id}`, changes);
      await patch({ assignedAgentId: owner.id, status: 'SNOOZED' });
      await patch({ status: 'CLOSED' });
      await patch({ status: 'CLOSED' });
      await patch({ status: 'OPEN' });
      const audited = await eventsOf(service, workspace, 'audit.event');
      const subject = { entity: 'conversation', entityId: conversation.id, actorId: key.id };
      const origin = { address: expect.any(String), userAgent: 'crm/1.0', requestId: 'audited' };
      const changed = (change: string, before: object, after: object) => ({
        action: `conversation.${change}`,
        ...subject,
        metadata: { before, after, origin },
      });
      expect(audited.filter(({ entity }) => entity === 'conversation')).toEqual([
        changed('assigned', { assignedAgentId: null }, { assignedAgentId: owner.id }),
        changed('snoozed', { status: 'OPEN' }, { status: 'SNOOZED' }),
        changed('closed', { status: 'SNOOZED' }, { status: 'CLOSED' }),
        changed('reopened', { status: 'CLOSED' }, { status: 'OPEN' }),
      ]);
    });

    it('has in the event only what changed', async () => {
      await patch({ status: 'OPEN', assignedAgentId: tenant.owner.id });
      expect(await updates()).toEqual([
        { conversationId: tenant.conversation.id, assignedAgentId: tenant.owner.id },
      ]);
    });

    it('appends for each of many concurrent changes what that call changed', async () => {
      const statuses = ['CLOSED', 'SNOOZED', 'OPEN'] as const;
      await Promise.all(Array.from({ length: 12 }, (_, i) => patch({ status: statuses[i % 3] })));
      const appended = (await updates()).map((event) => event.status);
      // Each event differs from the one before it, and the last one shows the present state.
      let previous = 'OPEN';
      for (const status of appended) {
        expect(status).not.toBe(previous);
        previous = status as string;
      }
      const { body } = await tenant.client.get(`/conversations/${tenant.conversation.id}`);
      expect(body.status).toBe(previous);
    });

    it('appends one event for two equal changes at once', async () => {
      const answers = await Promise.all([patch({ status: 'CLOSED' }), patch({ status: 'CLOSED' })]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect(await updates()).toHaveLength(1);
    });

    it('keeps both of two different changes at once, each with its own event', async () => {
      await Promise.all([patch({ status: 'CLOSED' }), patch({ assignedAgentId: tenant.owner.id })]);
      const { body } = await tenant.client.get(`/conversations/${tenant.conversation.id}`);
      expect(body).toMatchObject({ status: 'CLOSED', assignedAgentId: tenant.owner.id });
      expect(await updates()).toHaveLength(2);
    });

    it.each([
      ['an unknown agent', () => Promise.resolve(newId())],
      ['no id at all', () => Promise.resolve('')],
      ['something that is no id', () => Promise.resolve('ana')],
      ['an inactive agent', async () => (await service.make.agent(tenant.workspace, { active: false })).id],
      ["another workspace's agent", async () => (await createTenant(service)).owner.id],
    ])('refuses %s, and does not unassign', async (_, agent) => {
      await patch({ assignedAgentId: tenant.owner.id });
      const { status, body } = await patch({ assignedAgentId: await agent() });
      expect(status).toBe(400);
      expect(body).toEqual(
        fieldError('INVALID_BODY', 'assignedAgentId', 'is not an active agent of this workspace'),
      );
      const detail = await tenant.client.get(`/conversations/${tenant.conversation.id}`);
      expect(detail.body.assignedAgentId).toBe(tenant.owner.id);
    });

    describe('with the end of a snooze', () => {
      const audited = async () =>
        (await eventsOf(service, tenant.workspace, 'audit.event'))
          .filter(({ entity }) => entity === 'conversation')
          .map(({ action, metadata: { before, after } }) => ({ action, before, after }));
      const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

      it('snoozes until then, and shows it in the answer, the detail and the list', async () => {
        const { client, conversation } = tenant;
        const snoozedUntil = inDays(1);
        const { status, body } = await patch({ status: 'SNOOZED', snoozedUntil });
        expect(status).toBe(200);
        expect(body).toMatchObject({ status: 'SNOOZED', snoozedUntil });
        expect((await client.get(`/conversations/${conversation.id}`)).body).toMatchObject({ snoozedUntil });
        expect((await client.get('/conversations')).body.data).toMatchObject([{ snoozedUntil }]);
        expect(await updates()).toEqual([{ conversationId: conversation.id, status: 'SNOOZED' }]);
        expect(await audited()).toEqual([
          {
            action: 'conversation.snoozed',
            before: { status: 'OPEN', snoozedUntil: null },
            after: { status: 'SNOOZED', snoozedUntil },
          },
        ]);
      });

      it('takes a time of any zone', async () => {
        const end = new Date(inDays(1));
        const twoHoursAhead = new Date(end.getTime() + 7_200_000).toISOString().replace('Z', '+02:00');
        const { body } = await patch({ status: 'SNOOZED', snoozedUntil: twoHoursAhead });
        expect(body.snoozedUntil).toBe(end.toISOString());
      });

      it('changes the end alone, and removes it, with audit entries and no event', async () => {
        const [first, second] = [inDays(1), inDays(366 - 1 / 24)];
        await patch({ status: 'SNOOZED', snoozedUntil: first });
        const sequenceOf = () =>
          service.query('SELECT event_sequence FROM conversations WHERE id = $1', [tenant.conversation.id]);
        const [counted, updated] = [await sequenceOf(), await updates()];
        expect((await patch({ snoozedUntil: second })).body.snoozedUntil).toBe(second);
        expect((await patch({ status: 'SNOOZED', snoozedUntil: second })).body.snoozedUntil).toBe(second);
        expect((await patch({ status: 'SNOOZED' })).body.snoozedUntil).toBe(second);
        expect((await patch({ snoozedUntil: null })).body).toMatchObject({
          status: 'SNOOZED',
          snoozedUntil: null,
        });
        const snoozed = (before: string | null, after: string | null) => ({
          action: 'conversation.snoozed',
          before: { snoozedUntil: before },
          after: { snoozedUntil: after },
        });
        expect((await audited()).slice(1)).toEqual([snoozed(first, second), snoozed(second, null)]);
        expect(await updates()).toEqual(updated);
        expect(await sequenceOf()).toEqual(counted);
      });

      it.each(['OPEN', 'CLOSED'])('forgets the end when the status becomes %s', async (status) => {
        const snoozedUntil = inDays(1);
        await patch({ status: 'SNOOZED', snoozedUntil });
        expect((await patch({ status })).body).toMatchObject({ status, snoozedUntil: null });
        expect((await audited()).at(-1)).toMatchObject({
          before: { status: 'SNOOZED', snoozedUntil },
          after: { status, snoozedUntil: null },
        });
        expect((await patch({ status: 'SNOOZED' })).body).toMatchObject({ snoozedUntil: null });
      });

      it('forgets the end when the customer writes', async () => {
        await patch({ status: 'SNOOZED', snoozedUntil: inDays(1) });
        await service.make.received(tenant.workspace, tenant.conversation);
        const { body } = await tenant.client.get(`/conversations/${tenant.conversation.id}`);
        expect(body).toMatchObject({ status: 'OPEN', snoozedUntil: null });
      });

      it('shows and keeps no end that an earlier version has left behind', async () => {
        const { client, conversation } = tenant;
        await patch({ status: 'SNOOZED', snoozedUntil: inDays(1) });
        await service.query(`UPDATE conversations SET status = 'OPEN' WHERE id = $1`, [conversation.id]);
        const { body } = await client.get(`/conversations/${conversation.id}`);
        expect(body).toMatchObject({ status: 'OPEN', snoozedUntil: null });
        expect((await patch({ status: 'SNOOZED' })).body).toMatchObject({ snoozedUntil: null });
        const row = await service.query('SELECT snoozed_until FROM conversations WHERE id = $1', [
          conversation.id,
        ]);
        expect(row).toEqual([{ snoozed_until: null }]);
      });

      it('keeps the end when the agent changes', async () => {
        const snoozedUntil = inDays(1);
        await patch({ status: 'SNOOZED', snoozedUntil });
        expect((await patch({ assignedAgentId: tenant.owner.id })).body).toMatchObject({ snoozedUntil });
      });

      const ISO = 'must be an ISO 8601 date';
      it.each([
        ['the past', { status: 'SNOOZED', snoozedUntil: '2026-01-01T00:00:00Z' }, 'must be in the future'],
        [
          'more than a year',
          { status: 'SNOOZED', snoozedUntil: '2199-01-01T00:00:00Z' },
          'must be at most 366 days ahead',
        ],
        ['a day without a time', { status: 'SNOOZED', snoozedUntil: '2027-01-01' }, ISO],
        ['a time without a zone', { status: 'SNOOZED', snoozedUntil: '2027-01-01T09:00:00' }, ISO],
        ['words', { status: 'SNOOZED', snoozedUntil: 'tomorrow' }, ISO],
        ['a number', { status: 'SNOOZED', snoozedUntil: 1_798_761_600_000 }, ISO],
        ['a boolean', { status: 'SNOOZED', snoozedUntil: true }, ISO],
        ['a list', { status: 'SNOOZED', snoozedUntil: ['2027-01-01T09:00:00Z'] }, ISO],
        [
          'an end beside another status',
          { status: 'CLOSED', snoozedUntil: inDays(1) },
          'is only for a snoozed conversation',
        ],
        ['an end of an open conversation', { snoozedUntil: inDays(1) }, 'is only for a snoozed conversation'],
      ])('refuses %s', async (_, body, message) => {
        const answer = await patch(body);
        expect(answer.status).toBe(400);
        expect(answer.body).toEqual(fieldError('INVALID_BODY', 'snoozedUntil', message));
        expect(await updates()).toEqual([]);
      });
    });

    const STATUS = 'must be one of the following values: OPEN, SNOOZED, CLOSED';
    it.each([
      [{ status: 'open' }, 'status', STATUS],
      [{ status: 1 }, 'status', STATUS],
      [{ status: ['OPEN'] }, 'status', STATUS],
      [{ assignedAgentId: 1 }, 'assignedAgentId', 'must be a string'],
      [{ assignedAgentId: {} }, 'assignedAgentId', 'must be a string'],
      [{ assignedAgentId: false }, 'assignedAgentId', 'must be a string'],
      [{ status: 'CLOSED', colour: 'red' }, 'colour', 'is not a known field'],
      [{ status: 'CLOSED', id: 'x' }, 'id', 'is not a known field'],
    ])('refuses %j', async (body, field, message) => {
      const answer = await patch(body);
      expect(answer.status).toBe(400);
      expect(answer.body).toEqual(fieldError('INVALID_BODY', field, message));
      expect(await updates()).toEqual([]);
    });

    it('refuses to change nothing', async () => {
      const { status, body } = await patch({});
      expect(status).toBe(400);
      expect(body).toEqual(
        errorBody('INVALID_BODY', 'Name at least one of status, assignedAgentId and snoozedUntil.'),
      );
    });
  });
});
