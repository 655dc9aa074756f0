import { newId } from '../../src/common/ids';
import { CreateContact } from '../../src/contacts/contact.dto';
import { errorBody, fieldError } from '../support/errors';
import { eventsOf } from '../support/events';
import { createTenant, Tenant } from '../support/routes';
import { TestService } from '../support/service';
import { RESERVED_KEYS } from '../support/reserved-keys';

const CURSOR = 'must be the nextCursor of an earlier page: leave it out for the first page';

describe('contacts and agents', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.create();
  });

  const namesOf = (rows: { name: string | null }[]) => rows.map(({ name }) => name);

  describe('GET /api/v1/contacts', () => {
    it('lists them whole, newest first', async () => {
      const workspace = await service.make.workspace();
      const client = service.client.as(await service.make.apiKey(workspace, ['contacts:read']));
      const first = await service.make.contact(workspace, {});
      const second = await service.make.contact(workspace, {
        name: 'Zoë Martín',
        email: 'zoe@example.com',
        phone: '+34 600 11 22 33',
      });
      await service.query(
        `INSERT INTO contact_identities (tenant_id, channel, external_id, contact_id, created_at)
         VALUES ($1, 'WHATSAPP', '34600112233', $2, now()), ($1, 'TELEGRAM', '77', $2, now() + interval '1 s')`,
        [workspace.id, second.id],
      );
      await service.query(`UPDATE contacts SET attributes = '{"vip": true}' WHERE id = $1`, [second.id]);

      const { status, body } = await client.get('/contacts');

      expect(status).toBe(200);
      expect(body).toEqual({
        data: [
          {
            id: second.id,
            name: 'Zoë Martín',
            email: 'zoe@example.com',
            phone: '+34 600 11 22 33',
            avatarUrl: null,
            identities: [
              { channel: 'WHATSAPP', externalId: '34600112233' },
              { channel: 'TELEGRAM', externalId: '77' },
            ],
            verified: [],
            attributes: { vip: true },
            createdAt: second.createdAt.toISOString(),
            updatedAt: second.updatedAt.toISOString(),
          },
          {
            id: first.id,
            name: null,
            email: null,
            phone: null,
            avatarUrl: null,
            identities: [],
            verified: [],
            attributes: {},
            createdAt: first.createdAt.toISOString(),
            updatedAt: first.updatedAt.toISOString(),
          },
        ],
        nextCursor: null,
      });
    });

    describe('with q', () => {
      const PEOPLE: CreateContact[] = [
        { name: 'Zoë Martín', email: 'zoe.m@example.com', phone: '+34 600 11 22 33' },
        { name: 'ZOË Ångström', email: 'zo@example.org' },
        { name: 'Юлия Смирнова', phone: '8 (912) 345-67-89' },
        { name: '100% Organic', email: 'shop@organic.example' },
        { name: '100 Organic', email: 'a_b@example.com' },
        { name: 'Back\\slash', email: 'axb@example.com' },
        { name: '李', phone: '112233' },
        { name: 'Gül Ḍụṇẹ'.normalize('NFD') },
        { email: 'nobody@example.net' },
        { phone: '600-112-233' },
      ];
      let tenant: Tenant;

      beforeAll(async () => {
        tenant = await createTenant(service, service.make.workspace({ rateLimit: 10_000 }));
        for (const person of PEOPLE) await service.make.contact(tenant.workspace, person);
        const stranger = await createTenant(service);
        for (const person of PEOPLE) await service.make.contact(stranger.workspace, person);
      });

      const find = async (q: string): Promise<any[]> =>
        tenant.client.all(`/contacts?q=${encodeURIComponent(q)}`, 2);
      const label = ({ name, email, phone }: CreateContact) => name ?? email ?? phone ?? '';

      it.each([
        ['a name in any case', 'zoë', ['Zoë Martín', 'ZOË Ångström', 'Zoë Martín']],
        ['an upper-case Ë', 'ZOË', ['Zoë Martín', 'ZOË Ångström', 'Zoë Martín']],
        [
          'a name typed in decomposed characters',
          'zoë'.normalize('NFD'),
          ['Zoë Martín', 'ZOË Ångström', 'Zoë Martín'],
        ],
        ['a name stored in decomposed characters', 'gül', ['Gül Ḍụṇẹ']],
        ['both in decomposed characters', 'ḍụṇẹ'.normalize('NFD'), ['Gül Ḍụṇẹ']],
        ['a part of a name', 'ngströ', ['ZOË Ångström']],
        ['Cyrillic in any case', 'СМИРНОВА', ['Юлия Смирнова']],
        ['a part of a Cyrillic name', 'юли', ['Юлия Смирнова']],
        ['one character', '李', ['李']],
        ['two characters', 'ю', ['Юлия Смирнова']],
        ['a whole e-mail address', 'zoe.m@example.com', ['Zoë Martín']],
        ['an e-mail domain', '@EXAMPLE.ORG', ['ZOË Ångström']],
        ['% itself', '100%', ['100% Organic']],
        ['% itself, alone', '%', ['100% Organic']],
        ['_ itself', 'a_b', ['100 Organic']],
        ['\\ itself', '\\', ['Back\\slash']],
        ['two words', '100 organic', ['100 Organic']],
        ['a phone, as it is written', '+34 600 11 22 33', ['Zoë Martín']],
        ['a phone, without spacing', '+34600112233', ['Zoë Martín']],
        ['a phone, spaced in another way', '912 345 67 89', ['Юлия Смирнова']],
        ['a part of a phone', '600 112', ['Zoë Martín', '600-112-233']],
        ['digits that several have', '112233', ['Zoë Martín', '李', '600-112-233']],
        ['nobody', 'nobody at all', []],
        ['no wildcard over two fields', 'zoë%example', []],
        ['nothing across two fields', 'martínzoe', []],
      ])('finds %s', async (_, q, expected) => {
        const found = (await find(q)).map(label);
        expect(found.sort()).toEqual([...expected].sort());
      });

      it('finds everybody with an empty q', async () => {
        expect(await find('')).toHaveLength(PEOPLE.length + 1);
      });

      it('comes newest first, page by page', async () => {
        const ids = (await find('example')).map(({ id }) => id as string);
        expect(ids.length).toBeGreaterThan(4);
        expect(ids).toEqual([...ids].sort().reverse());
      });
    });

    describe('with q in another spelling', () => {
      let client: Tenant['client'];
      let workspace: Tenant['workspace'];

      beforeAll(async () => {
        ({ client, workspace } = await createTenant(service, service.make.workspace({ rateLimit: 10_000 })));
      });

      it.each([
        ['020 7946 0958'],
        ['+44 (0)20 7946 0958'],
        ['+44 020 7946 0958'],
        ['0044 20 7946 0958'],
        ['\u202a+44 20 7946 0958\u202c'],
        ['+44 20 7946\u20110958'],
        ['\u200b+44\u00a020\u00a07946\u00a00958\ufeff'],
        ['tel:+442079460958'],
        ['tel:+44-20-7946-0958;ext=12'],
        ['＋４４ ２０ ７９４６ ０９５８'],
        ['+٤٤ ٢٠ ٧٩٤٦ ٠٩٥٨'],
        ['7946.0958'],
      ])('finds +44 20 7946 0958 by %p (public report 38)', async (q) => {
        const name = `Number ${newId()}`;
        await service.make.contact(workspace, { name, phone: '+44 20 7946 0958' });
        expect(namesOf((await client.get(`/contacts?q=${encodeURIComponent(q)}`)).body.data)).toContain(name);
      });

      it.each([
        ['020 7946 0958', '+44 20 7946 0958'],
        ['0151 234567', '+49 151 234567'],
        ['+44 (0)20 7946 0958', '+442079460958'],
        ['+1 (555) 123-4567 ext. 89', '5551234567'],
        ['+15551234567', '+1 555 123 4567 x89'],
        ['+15551234567', 'https://wa.me/15551234567'],
        ['٠٢٠ ٧٩٤٦ ٠٩٥٨', '020 7946 0958'],
      ])('finds the stored %p by %p (public report 38)', async (phone, q) => {
        const name = `Number ${newId()}`;
        await service.make.contact(workspace, { name, phone });
        expect(namesOf((await client.get(`/contacts?q=${encodeURIComponent(q)}`)).body.data)).toContain(name);
      });

      it('does not find a number of another country by its end', async () => {
        await service.make.contact(workspace, { name: 'Madrid', phone: '+34 912 345 678' });
        const { body } = await client.get(`/contacts?q=${encodeURIComponent('+39 912 345 678')}`);
        expect(namesOf(body.data)).toEqual([]);
      });

      it.each([
        ['Straße Müller', 'STRASSE'],
        ['STRASSE 5', 'straße 5'],
        ['José Ñandú', 'jose'],
        ['Jose Nandu', 'JOSÉ ÑANDÚ'],
        ['O’Brien', "O'Brien"],
        ["O'Neill", 'OʼNeill'],
        ['Đỗ Văn', 'do van'],
        ['Łukasz Østby', 'lukasz ostby'],
        ['Ｔａｒｏ', 'taro'],
        ['Ünal', 'ünal '],
        ['İrem Işık', 'irem isik'],
        ['irem ışık', 'IREM IŞIK'],
        ['Οδυσσεύς', 'ΟΔΥΣΣΕΥΣ'],
        ['Anne‑Marie', 'anne-marie'],
        ['Zo\u00adë\u200b Q', 'zoe q'],
        ['Marie  Curie', 'marie curie'],
        ['Ёлкина', 'елкина'],
        ['タロウ', 'たろう'],
        ['さくら ガ', 'ｻｸﾗ ｶﾞ'],
        ['علی کریم', 'علي كريم'],
        ['فاطمة هدى', 'فاطمه هدي'],
        ['ג׳ורג׳', "ג'ורג'"],
      ])('finds the name %p by %p (public report 39)', async (name, q) => {
        await service.make.contact(workspace, { name });
        const found = namesOf((await client.get(`/contacts?q=${encodeURIComponent(q)}`)).body.data);
        expect(found).toContain(name.normalize('NFC'));
      });

      it('finds a contact by its new name alone', async () => {
        const { id } = await service.make.contact(workspace, {
          name: 'Grüße Alt',
          phone: '+34 600 11 22 33',
        });
        await client.patch(`/contacts/${id}`, { name: 'Größe Neu' });
        expect(await client.all('/contacts?q=grusse', 1)).toEqual([]);
        expect(await client.all('/contacts?q=GROSSE', 1)).toHaveLength(1);
        expect(await client.all('/contacts?q=0034600112233', 1)).toHaveLength(1);
      });
    });

    it.each(['J%F6rg', '%80', '%ED%A0%80', '%C0%AF', 'a&limit=%FF'])(
      'refuses a query that is not UTF-8 (public report 29, expressjs/express#2958): %s',
      async (q) => {
        const { client } = await createTenant(service);
        const { status, body } = await client.get(`/contacts?q=${q}`);
        expect({ status, body }).toEqual({
          status: 400,
          body: errorBody('INVALID_QUERY', 'The query is not UTF-8.'),
        });
      },
    );

    it('takes a q of 200 characters, and no more', async () => {
      const { client, workspace } = await createTenant(service);
      const name = 'Ü'.repeat(200);
      await service.make.contact(workspace, { name });
      const found = await client.get(`/contacts?q=${encodeURIComponent(name)}`);
      expect(namesOf(found.body.data)).toEqual([name]);
      const { status, body } = await client.get(`/contacts?q=${encodeURIComponent(`${name}Ü`)}`);
      expect(status).toBe(400);
      expect(body).toEqual(fieldError('INVALID_QUERY', 'q', 'must be at most 200 characters'));
    });

    describe('with parameters that it does not take', () => {
      let tenant: Tenant;

      beforeAll(async () => {
        tenant = await createTenant(service);
      });

      it.each([
        ['limit=0', 'limit', 'must be a whole number from 1 to 200'],
        ['limit=201', 'limit', 'must be a whole number from 1 to 200'],
        ['limit=x', 'limit', 'must be a whole number from 1 to 200'],
        ['cursor=abc', 'cursor', CURSOR],
        ['cursor=', 'cursor', CURSOR],
        ['limit=', 'limit', 'must be a whole number from 1 to 200'],
        ['_=1763800000', '_', 'is not a known field'],
        ['constructor=x', 'constructor', 'is not a known field'],
        ['__proto__[x]=x', '__proto__[x]', 'is not a known field'],
        ['q=a&q=b', 'q', 'must be a string of valid Unicode without NUL'],
        ['q=a%00b', 'q', 'must be a string of valid Unicode without NUL'],
        ['name=Zoe', 'name', 'is not a known field'],
      ])('refuses ?%s, and says why (public report 33)', async (query, field, message) => {
        const { status, body } = await tenant.client.get(`/contacts?${query}`);
        expect(status).toBe(400);
        expect(body).toEqual(fieldError('INVALID_QUERY', field, message));
      });
    });

    it('neither repeats nor loses a contact while others are added and change', async () => {
      const workspace = await service.make.workspace();
      const client = service.client.as(await service.make.apiKey(workspace));
      const ids: string[] = [];
      for (let i = 0; i < 5; i++)
        ids.unshift((await service.make.contact(workspace, { name: `No. ${i}` })).id);
      const seen: string[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const { body }: { body: any } = await client.get(`/contacts?limit=2${cursor && `&cursor=${cursor}`}`);
        seen.push(...body.data.map(({ id }: { id: string }) => id));
        cursor = body.nextCursor as string | null;
        await service.make.contact(workspace, { name: 'New' });
        await service.query(`UPDATE contacts SET name = 'Renamed', updated_at = now() WHERE id = $1`, [
          ids[0],
        ]);
      }
      expect(seen).toEqual(ids);
    });
  });

  describe('POST /api/v1/contacts', () => {
    const ZOE = {
      name: 'Zoë Martín',
      email: 'zoe@example.com',
      phone: '+34 600 11 22 33',
      attributes: { city: 'Valencia', orders: 3, vip: true },
      identity: { channel: 'WHATSAPP', externalId: '34600112233' },
    };

    it('creates a contact, which can be read and is audited as the doing of the key', async () => {
      const { client, workspace, key } = await createTenant(service);
      const { status, body } = await client.post('/contacts', ZOE);
      expect(status).toBe(201);
      const { identity, ...known } = ZOE;
      expect(body).toEqual({
        ...known,
        id: expect.any(String),
        avatarUrl: null,
        identities: [identity],
        verified: [],
        createdAt: expect.any(String),
        updatedAt: body.createdAt,
      });
      expect((await client.get(`/contacts/${body.id}`)).body).toEqual(body);
      const audited = await eventsOf(service, workspace, 'audit.event');
      expect(audited.filter(({ entityId }) => entityId === body.id)).toEqual([
        expect.objectContaining({ action: 'contact.created', actorId: key.id }),
      ]);
    });

    it('takes null as left out (public report 35)', async () => {
      const { client } = await createTenant(service);
      const nulls = { name: null, email: null, phone: null, attributes: null, identity: null };
      const { status, body } = await client.post('/contacts', { ...nulls, phone: '+34 600 11 22 33' });
      expect(status).toBe(201);
      expect(body).toMatchObject({ name: null, email: null, attributes: {}, identities: [] });
    });

    it('keeps attributes whose names JavaScript gives a meaning', async () => {
      const { client, workspace } = await createTenant(service);
      const named = (value: string) => Object.fromEntries(RESERVED_KEYS.map((key) => [key, value]));
      const textOf = async (id: string) =>
        JSON.stringify((await client.get(`/contacts/${id}`)).body.attributes);
      const { status, body } = await client.post('/contacts', { attributes: named('first') });
      expect(status).toBe(201);
      expect(JSON.parse(await textOf(body.id as string))).toEqual(JSON.parse(JSON.stringify(named('first'))));
      await client.patch(`/contacts/${body.id}`, { attributes: named('second') });
      for (const key of RESERVED_KEYS) expect(await textOf(body.id as string)).toContain(`"${key}":"second"`);
      const [event] = await eventsOf(service, workspace, 'contact.updated');
      for (const key of RESERVED_KEYS) expect(JSON.stringify(event)).toContain(`"${key}":"second"`);
    });

    it('creates one contact for one Idempotency-Key, and answers with it as it is by now', async () => {
      const { client, workspace } = await createTenant(service);
      const create = (body: object) => client.post('/contacts', body, { 'Idempotency-Key': 'zoe' });
      const [first, second] = await Promise.all([create(ZOE), create(ZOE)]);
      expect([first.status, second.status]).toEqual([201, 201]);
      expect(second.body).toEqual(first.body);
      await client.patch(`/contacts/${first.body.id}`, { email: 'zoe@example.org' });
      const third = await create(ZOE);
      expect(third.headers['idempotency-replayed']).toBe('true');
      expect(third.body).toMatchObject({ id: first.body.id, email: 'zoe@example.org' });
      expect(await client.all('/contacts?q=zoe@', 10)).toHaveLength(1);
      expect((await create({ name: 'Zoë' })).body.error.code).toBe('IDEMPOTENCY_CONFLICT');
      // What is kept for a day has none of the contact's data.
      const kept = await service.query('SELECT response FROM idempotency_keys WHERE tenant_id = $1', [
        workspace.id,
      ]);
      expect(kept).toEqual([{ response: { id: first.body.id } }]);
    });

    it('refuses an identity that another contact has', async () => {
      const { client } = await createTenant(service);
      const { body: first } = await client.post('/contacts', ZOE);
      const { status, body } = await client.post('/contacts', { ...ZOE, name: 'Zoé' });
      expect(status).toBe(400);
      expect(body).toEqual(fieldError('INVALID_BODY', 'identity', `is that of the contact ${first.id}`));
    });

    it.each([
      ['a blank name', { name: ' ' }, 'name'],
      ['an e-mail that is none', { email: 'zoe' }, 'email'],
      ['nested attributes', { attributes: { a: { b: 1 } } }, 'attributes'],
      ['an attribute that is an object', { attributes: { constructor: {} } }, 'attributes'],
      [
        'an identity without an id',
        { identity: { channel: 'WIDGET', externalId: null } },
        'identity.externalId',
      ],
      ['an unknown channel', { identity: { channel: 'FAX', externalId: '1' } }, 'identity.channel'],
      ['what the server alone knows', { verified: ['email'] }, 'verified'],
    ])('refuses %s', async (_, contact, field) => {
      const { client } = await createTenant(service);
      const { status, body } = await client.post('/contacts', contact);
      expect([status, body.error.code]).toEqual([400, 'INVALID_BODY']);
      expect(body.error.details).toMatchObject([{ field }]);
    });
  });

  describe('PATCH /api/v1/contacts/:id', () => {
    it('changes what it names, empties with null, and is audited as the doing of the key', async () => {
      const { client, workspace, key } = await createTenant(service);
      const made = await service.make.contact(workspace, {
        name: 'Zoë',
        phone: '+34 1',
        email: 'z@example.com',
      });
      const { status, body } = await client.patch(`/contacts/${made.id}`, {
        name: 'Zoë Martín',
        phone: null,
        attributes: { vip: true },
      });
      expect(status).toBe(200);
      expect(body).toEqual({
        ...JSON.parse(JSON.stringify(made)),
        name: 'Zoë Martín',
        phone: null,
        attributes: { vip: true },
        updatedAt: expect.any(String),
      });
      expect((await client.get(`/contacts/${made.id}`)).body).toEqual(body);
      const audited = await eventsOf(service, workspace, 'audit.event');
      expect(audited.filter(({ entityId }) => entityId === made.id)).toEqual([
        expect.objectContaining({ action: 'contact.updated', actorId: key.id }),
      ]);
    });

    it('is refused when the contact was changed since the given moment', async () => {
      const { client, conversation } = await createTenant(service);
      const { id, updatedAt } = conversation.contact;
      const patch = (changes: object) => client.patch(`/contacts/${id}`, changes);
      expect((await patch({ updatedAt, name: 'First' })).status).toBe(200);
      const { status, body } = await patch({ updatedAt, name: 'Second' });
      expect(status).toBe(409);
      expect(body.error).toMatchObject({ code: 'CONFLICT', reason: 'contact_edited' });
      expect((await patch({ name: 'Third' })).body.name).toBe('Third');
    });

    it.each([
      ['nothing', {}],
      ['a moment alone', { updatedAt: '2026-11-18T16:20:00Z' }],
      ['null where it has no meaning (public report 35)', { attributes: null, updatedAt: null }],
    ])('refuses %s', async (_, changes) => {
      const { client, conversation } = await createTenant(service);
      const { status, body } = await client.patch(`/contacts/${conversation.contact.id}`, changes);
      expect(status).toBe(400);
      expect(body).toEqual(errorBody('INVALID_BODY', 'Name at least one of name, email, phone, attributes.'));
    });
  });

  describe('GET /api/v1/agents', () => {
    it('lists people and bots, active or not, newest first, page by page', async () => {
      const { client, workspace, owner } = await createTenant(service);
      const bot = await service.make.agent(workspace, { name: 'Bot', role: 'AGENT', isBot: true });
      const former = await service.make.agent(workspace, {
        displayName: 'Lin',
        role: 'ADMIN',
        active: false,
      });
      const shown = [former, bot, owner].map(({ tenantId: _, erasedAt: __, ...agent }) =>
        JSON.parse(JSON.stringify(agent)),
      );
      const { status, body } = await client.get('/agents');
      expect(status).toBe(200);
      expect(body).toEqual({ data: shown, nextCursor: null });
      expect(await client.all('/agents', 1)).toEqual(shown);
      expect((await client.get(`/agents/${bot.id}`)).body).toEqual(shown[1]);
    });

    it('shows of an erased agent neither name nor address', async () => {
      const { client, workspace } = await createTenant(service);
      const { id } = await service.make.agent(workspace, { displayName: 'Lin', active: false });
      await service.query(
        `UPDATE agents SET name = '', display_name = NULL, email = $2, erased_at = now() WHERE id = $1`,
        [id, `${id}@erased.invalid`],
      );
      const nothing = { name: null, displayName: null, email: null, active: false };
      expect((await client.get(`/agents/${id}`)).body).toMatchObject(nothing);
    });

    it('refuses a parameter that it does not take', async () => {
      const { client } = await createTenant(service);
      const { status, body } = await client.get('/agents?role=OWNER');
      expect(status).toBe(400);
      expect(body).toEqual(fieldError('INVALID_QUERY', 'role', 'is not a known field'));
    });
  });
});
