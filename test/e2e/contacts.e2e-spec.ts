import { CreateContact } from '../../src/contacts/contact.dto';
import { fieldError } from '../support/errors';
import { createTenant, Tenant } from '../support/routes';
import { TestService } from '../support/service';

describe('GET /api/v1/contacts', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.create();
  });
  afterAll(() => service.close());

  const namesOf = (rows: { name: string | null }[]) => rows.map(({ name }) => name);

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
      ['cursor=abc', 'cursor', 'must be the nextCursor of an earlier page'],
      ['q=a&q=b', 'q', 'must be a string of valid Unicode without NUL'],
      ['q=a%00b', 'q', 'must be a string of valid Unicode without NUL'],
      ['name=Zoe', 'name', 'is not a known field'],
    ])('refuses ?%s', async (query, field, message) => {
      const { status, body } = await tenant.client.get(`/contacts?${query}`);
      expect(status).toBe(400);
      expect(body).toEqual(fieldError('INVALID_QUERY', field, message));
    });
  });

  it('neither repeats nor loses a contact while others are added and change', async () => {
    const workspace = await service.make.workspace();
    const client = service.client.as(await service.make.apiKey(workspace));
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.unshift((await service.make.contact(workspace, { name: `No. ${i}` })).id);
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body }: { body: any } = await client.get(`/contacts?limit=2${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.data.map(({ id }: { id: string }) => id));
      cursor = body.nextCursor as string | null;
      await service.make.contact(workspace, { name: 'New' });
      await service.query(`UPDATE contacts SET name = 'Renamed', updated_at = now() WHERE id = $1`, [ids[0]]);
    }
    expect(seen).toEqual(ids);
  });
});
