import { AuditService } from '../../src/audit/audit.service';
import { newId } from '../../src/common/ids';
import { Actor, SYSTEM } from '../../src/access/principal';
import { UpdateContact } from '../../src/contacts/contact.dto';
import { ContactsService } from '../../src/contacts/contacts.service';
import { CustomersService } from '../../src/contacts/customers.service';
import { Database } from '../../src/database/database';
import { ContactErasuresService } from '../../src/privacy/contact-erasures.service';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { expectRefusal } from '../support/errors';
import { MessagingHost } from '../support/messaging-host';

describe('a contact', () => {
  let host: MessagingHost;
  let workspace: WorkspaceEntity;
  let agent: Actor & { id: string };

  beforeAll(async () => {
    host = await MessagingHost.create();
  });
  beforeEach(async () => {
    workspace = await host.make.workspace();
    agent = { type: 'agent', id: (await host.make.agent(workspace, { role: 'AGENT' })).id };
  });

  const contacts = () => host.get(ContactsService);
  const get = (id: string) => contacts().getDetail(workspace.id, id, agent);
  const update = (id: string, change: UpdateContact, actor: Actor = agent) =>
    contacts().update(workspace.id, id, change, actor);
  const entries = async () => (await host.get(AuditService).list(workspace.id, {}, SYSTEM)).data;
  const entriesOf = async (id: string) => (await entries()).filter(({ entityId }) => entityId === id);
  /** Makes the workspace's server sign a name and an e-mail address. */
  const sign = (id: string, signed: { name?: string; email?: string }) =>
    host
      .get(Database)
      .transaction((tx) =>
        host.get(CustomersService).updateProfile(tx, workspace.id, id, { signed, claimed: {} }),
      );

  it('is made by an agent, with an entry that names no more than its id', async () => {
    const made = await contacts().create(
      workspace.id,
      { name: 'Zoë Martín', email: 'zoe@example.com', phone: '+34 600 11 22 33' },
      agent,
    );
    expect(await get(made.id)).toEqual({ ...made, erasedAt: null });
    const [entry, ...others] = await entriesOf(made.id);
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ action: 'contact.created', actorId: agent.id, before: null, after: null });
    expect(JSON.stringify(entry)).not.toMatch(/zoe|Martín|600 ?11/i);
    // What the system makes, as a channel does, has none.
    const other = await host.make.contact(workspace);
    expect(await entriesOf(other.id)).toEqual([]);
  });

  it('is edited field by field, and the log names the fields without their values', async () => {
    const made = await host.make.contact(workspace, { name: 'Zoë Martín', phone: '+34 600' });
    const change = {
      updatedAt: made.updatedAt,
      email: 'zoe@example.com',
      phone: null,
      attributes: { city: 'Valencia', orders: 3, vip: true },
    };
    const edited = await update(made.id, change);
    expect(edited).toEqual({
      ...made,
      ...change,
      updatedAt: expect.any(Date),
    });
    expect(edited.updatedAt.getTime()).toBeGreaterThan(made.updatedAt.getTime());
    expect(await get(made.id)).toEqual({ ...edited, erasedAt: null });
    const [entry] = await entriesOf(made.id);
    expect(entry).toMatchObject({
      action: 'contact.updated',
      actorId: agent.id,
      metadata: { fields: ['email', 'phone', 'attributes'] },
      before: null,
      after: null,
    });
    expect(JSON.stringify(entry)).not.toMatch(/zoe|Valencia/i);
    const found = await contacts().list(workspace.id, { q: 'zoe@exam' }, agent);
    expect(found.data).toMatchObject([{ id: made.id, email: 'zoe@example.com' }]);
  });

  it('changes in nothing, and writes nothing, when the values are the same', async () => {
    const made = await host.make.contact(workspace, { name: 'Zoë' });
    // The same letters in another form of Unicode.
    const same = await update(made.id, {
      updatedAt: made.updatedAt,
      name: 'Zoë'.normalize('NFD'),
      email: null,
    });
    expect(same).toEqual(made);
    expect(await entriesOf(made.id)).toEqual([]);
  });

  it('is not changed by the later of two agents who edit it at once', async () => {
    const { id, updatedAt } = await host.make.contact(workspace, { name: 'Zoë' });
    const edits = await Promise.allSettled([
      update(id, { updatedAt, name: 'Zoë A.' }),
      update(id, { updatedAt, phone: '+34 1' }),
    ]);
    const refused = edits.filter((edit) => edit.status === 'rejected');
    expect(refused).toMatchObject([{ reason: { code: 'CONFLICT', reason: { reason: 'contact_edited' } } }]);
    expect(await entriesOf(id)).toHaveLength(1);
    // Nor over what the customer's own page has changed since.
    const { updatedAt: read } = await get(id);
    await sign(id, { email: 'zoe@example.com' });
    await expectRefusal(update(id, { updatedAt: read, email: 'other@example.com' }), 'CONFLICT');
    expect(await get(id)).toMatchObject({ email: 'zoe@example.com', verified: ['email'] });
  });

  it('loses the mark of a verified field that is edited, until the server signs it again', async () => {
    const { id } = await host.make.contact(workspace, { name: 'Zoë' });
    await sign(id, { name: 'Zoë Martín', email: 'zoe@example.com' });
    const { updatedAt } = await get(id);
    const edited = await update(id, { updatedAt, email: 'private@example.com', phone: '+34 1' });
    expect(edited).toMatchObject({ email: 'private@example.com', verified: ['name'] });
    expect((await entriesOf(id))[0]).toMatchObject({
      before: { verified: ['email', 'name'] },
      after: { verified: ['name'] },
    });
    await sign(id, { email: 'zoe@example.com' });
    expect(await get(id)).toMatchObject({ email: 'zoe@example.com', verified: ['email', 'name'] });
  });

  it.each<[string, object, string]>([
    ['a blank name', { name: ' ' }, 'name'],
    ['an endless name', { name: 'x'.repeat(201) }, 'name'],
    ['a name with NUL', { name: 'a\0b' }, 'name'],
    ['an e-mail that is none', { email: 'zoe' }, 'email'],
    ['an endless phone', { phone: '1'.repeat(51) }, 'phone'],
    ['attributes that are none', { attributes: ['a'] }, 'attributes'],
    ['a text as attributes', { attributes: 'VIP' }, 'attributes'],
    ['an attribute of many', { attributes: { a: { b: 1 } } }, 'attributes'],
    ['an attribute without a name', { attributes: { ' ': 'x' } }, 'attributes'],
    [
      'attributes that are too large together',
      { attributes: Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`a${n}`, 'é'.repeat(160)])) },
      'attributes',
    ],
    [
      'attributes with names that are too long together',
      {
        attributes: Object.fromEntries(
          Array.from({ length: 50 }, (_, n) => [`a${n}${'あ'.repeat(97)}`, 'あ'.repeat(20)]),
        ),
      },
      'attributes',
    ],
    ['an endless attribute', { attributes: { a: 'x'.repeat(501) } }, 'attributes'],
    [
      'too many attributes',
      { attributes: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`a${n}`, n])) },
      'attributes',
    ],
    ['an unknown field', { verified: ['email'] }, 'verified'],
    ['another avatar', { avatarUrl: 'https://tracker.example/x.gif' }, 'avatarUrl'],
    ['a moment that is none', { updatedAt: 'never', name: 'Zoë' }, 'updatedAt'],
  ])('takes not %s', async (_, change, field) => {
    const { id, updatedAt } = await host.make.contact(workspace, { name: 'Zoë' });
    const refused = update(id, { updatedAt, ...change });
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_BODY', details: [{ field }] });
    expect(await entriesOf(id)).toEqual([]);
  });

  it('of another workspace is not found, and neither is one that there is not', async () => {
    const other = await host.make.contact(await host.make.workspace());
    for (const id of [other.id, newId(), 'nope']) {
      await expectRefusal(update(id, { updatedAt: other.updatedAt, name: 'Zoë' }), 'NOT_FOUND');
      await expectRefusal(get(id), 'NOT_FOUND');
      const running = host.get(ContactErasuresService).getRunning(workspace.id, id, agent);
      await expectRefusal(running, 'NOT_FOUND');
    }
  });

  it('is not edited any more once it is erased', async () => {
    const { id } = await host.make.contact(workspace);
    const erasures = host.get(ContactErasuresService);
    expect(await erasures.getRunning(workspace.id, id, agent)).toBeNull();
    const erasure = await erasures.start(workspace.id, id, SYSTEM);
    expect(await erasures.getRunning(workspace.id, id, agent)).toEqual(erasure);
    const erased = await get(id);
    expect(erased).toMatchObject({ name: null, erasedAt: expect.any(Date) });
    await expect(update(id, { updatedAt: erased.updatedAt, name: 'Zoë' })).rejects.toMatchObject({
      code: 'CONFLICT',
      reason: { reason: 'contact_erased' },
    });
    // Nor does a login, as by an identity that a worker is yet to erase, bring the profile back.
    await sign(id, { name: 'Zoë', email: 'zoe@example.com' });
    expect(await get(id)).toEqual(erased);
    // A second erasure does not move the time of the first.
    await erasures.start(workspace.id, id, SYSTEM);
    expect((await get(id)).erasedAt).toEqual(erased.erasedAt);
    // The API's contact is as before.
    expect(await contacts().get(workspace.id, id, agent)).not.toHaveProperty('erasedAt');
  });

  it('is edited as it is by now when the edit names no moment', async () => {
    const { id, updatedAt } = await host.make.contact(workspace, { name: 'Zoë' });
    await update(id, { updatedAt, phone: '+34 1' });
    expect(await update(id, { name: 'Zoë A.' })).toMatchObject({ name: 'Zoë A.', phone: '+34 1' });
  });
});
