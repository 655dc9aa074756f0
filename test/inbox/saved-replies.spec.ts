import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { SavedRepliesService } from '../../src/inbox/saved-replies/saved-replies.service';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { expectRefusal } from '../support/errors';
import { MessagingHost } from '../support/messaging-host';

describe('saved replies', () => {
  let host: MessagingHost;
  let workspace: WorkspaceEntity;
  let replies: SavedRepliesService;

  beforeAll(async () => {
    host = await MessagingHost.create();
    replies = host.get(SavedRepliesService);
  });
  beforeEach(async () => {
    workspace = await host.make.workspace();
  });

  const create = (name: string, body = 'Hello') => replies.create(workspace.id, { name, body }, SYSTEM);
  const names = async () => (await replies.list(workspace.id, SYSTEM)).map(({ name }) => name);

  it('are listed by name, changed and deleted', async () => {
    const [thanks, refund] = [await create(' Thanks '), await create('refund')];
    expect(await names()).toEqual(['refund', 'Thanks']);
    const changed = await replies.update(workspace.id, refund.id, { body: 'Sorry' }, SYSTEM);
    expect(changed).toMatchObject({ name: 'refund', body: 'Sorry' });
    await replies.delete(workspace.id, thanks.id, SYSTEM);
    expect(await replies.list(workspace.id, SYSTEM)).toEqual([changed]);
  });

  it('have a name that no other of the workspace has, in any case', async () => {
    const { id } = await create('Refund');
    const other = await create('Thanks');
    await expectRefusal(create('REFUND'), 'INVALID_BODY');
    await expectRefusal(replies.update(workspace.id, other.id, { name: 'refund ' }, SYSTEM), 'INVALID_BODY');
    expect(await replies.update(workspace.id, id, { name: 'REFUND' }, SYSTEM)).toMatchObject({
      name: 'REFUND',
    });
    const elsewhere = await host.make.workspace();
    await replies.create(elsewhere.id, { name: 'Refund', body: 'Hello' }, SYSTEM);
    const twice = await Promise.allSettled([create('Twice'), create('twice')]);
    expect(twice.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('know the variables of contact, agent and workspace alone', async () => {
    await create(
      'All',
      'Dear {{contact.firstName|there}} ({{ contact.name }}), {{agent.name}}, {{workspace.name}} {not one}',
    );
    for (const body of ['{{contact.phone}}', 'Dear {{}}', '{{contact.firstname|there}}']) {
      const refused = create('Bad', body);
      await expect(refused).rejects.toMatchObject({
        code: 'INVALID_BODY',
        details: [{ field: 'body', code: 'variable_unknown' }],
      });
    }
  });

  it('are bounded in number and length', async () => {
    for (const [name, body] of [
      ['', 'Hello'],
      ['a'.repeat(81), 'Hello'],
      ['Name', ' '],
      ['Name', 'a'.repeat(4097)],
    ] as const)
      await expectRefusal(create(name, body), 'INVALID_BODY');
    await host.query(
      `INSERT INTO saved_replies SELECT $1, gen_random_uuid(), 'n' || n, 'Hello', now(), now() FROM generate_series(1, 199) n`,
      [workspace.id],
    );
    await create('a'.repeat(80), 'a'.repeat(4096));
    await expectRefusal(create('One more'), 'CONFLICT');
    expect(await names()).toHaveLength(200);
  });

  it('are of one workspace', async () => {
    const { id } = await create('Refund');
    const elsewhere = await host.make.workspace();
    expect(await replies.list(elsewhere.id, SYSTEM)).toEqual([]);
    for (const [tenantId, one] of [
      [elsewhere.id, id],
      [workspace.id, newId()],
      [workspace.id, 'nope'],
    ] as const) {
      await expectRefusal(replies.update(tenantId, one, { body: 'Hi' }, SYSTEM), 'NOT_FOUND');
      await expectRefusal(replies.delete(tenantId, one, SYSTEM), 'NOT_FOUND');
    }
  });
});
