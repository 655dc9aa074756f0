import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { ISO_TIME, NOWHERE, UUID, query, TestCli } from '../support/test-cli';

jest.setTimeout(90_000);

let cli: TestCli;

beforeAll(async () => {
  cli = await TestCli.start();
});

describe('contact, conversation, message', () => {
  it('plays a conversation through', async () => {
    const inAcme = ['--workspace', 'acme'];
    const [lin, idle, contact] = await Promise.all([
      makeAgent('lin@example.com'),
      makeAgent('idle@example.com', '--inactive'),
      cli.call('contact', 'create', ...inAcme, '--name', 'Олена', '--phone', '+380 44 123 45 67'),
    ]);
    expect(contact).toMatchObject({ id: UUID, name: 'Олена', email: null, phone: '+380 44 123 45 67' });

    const known = ['contact', 'create', ...inAcme, '--identity', 'widget:user:7'];
    expect(await cli.call(...known)).toMatchObject({
      identities: [{ channel: 'WIDGET', externalId: 'user:7' }],
    });
    expect(await cli.refusal(...known)).toMatchObject({
      code: 'INVALID_BODY',
      message: expect.stringMatching(/^identity is that of the contact .+\.$/),
    });

    const { id, ...opened } = await cli.call(
      ...['conversation', 'create', ...inAcme, '--contact', contact.id, '--channel', 'TELEGRAM'],
    );
    expect(opened).toMatchObject({ sourceChannel: 'TELEGRAM', status: 'OPEN', contact: { id: contact.id } });

    const received = await cli.call('message', 'receive', '--conversation', id, '--body', 'Where is it? 🎈');
    expect(received).toMatchObject({ id: UUID, senderType: 'CUSTOMER', body: 'Where is it? 🎈' });

    const reply = ['message', 'send', '--conversation', id, '--body', 'On its way.', '--agent'];
    expect(await cli.call(...reply, lin.id)).toEqual({
      id: UUID,
      senderType: 'AGENT',
      senderAgentId: lin.id,
      body: 'On its way.',
      createdAt: ISO_TIME,
      delivery: { status: 'QUEUED', error: null },
      editedAt: null,
      unsentAt: null,
      reactions: [],
      isDescribed: false,
      attachments: [],
    });

    const update = ['conversation', 'update', '--id', id, '--agent'];
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    const snooze = [...update, lin.id, '--status', 'SNOOZED', '--snooze-until'];
    expect(await cli.call(...snooze, tomorrow)).toMatchObject({ status: 'SNOOZED', snoozedUntil: tomorrow });
    expect(await cli.call(...snooze, 'none')).toMatchObject({ status: 'SNOOZED', snoozedUntil: null });
    expect(await cli.call(...update, lin.id, '--status', 'CLOSED', '--assign', lin.id)).toMatchObject({
      id,
      status: 'CLOSED',
      assignedAgentId: lin.id,
      lastMessagePreview: 'On its way.',
    });
    expect(await cli.call(...update, lin.id, '--assign', 'none')).toMatchObject({
      status: 'CLOSED',
      assignedAgentId: null,
    });
    expect(await actorsOf(id)).toEqual([`agent ${lin.id}`]);
    const inItsName = ['audit', 'list', ...inAcme, '--actor', lin.id, '--entity-id', id, '--limit', '1'];
    expect((await cli.call(...inItsName)).data).toMatchObject([
      { action: 'conversation.assigned', userAgent: `CLI, operator:${userInfo().username}` },
    ]);

    const [idleReply, idleUpdate, nowhere] = await Promise.all([
      cli.refusal(...reply, idle.id),
      cli.refusal(...update, idle.id, '--status', 'OPEN'),
      cli.refusal('message', 'receive', '--conversation', NOWHERE, '--body', 'Hello?'),
    ]);
    expect(idleReply).toMatchObject({ code: 'INVALID_BODY', details: [{ field: 'senderAgentId' }] });
    expect(idleUpdate).toMatchObject({ code: 'INVALID_BODY', details: [{ field: 'agent' }] });
    expect(nowhere).toMatchObject({ code: 'NOT_FOUND', message: 'Conversation not found.' });
  });

  /** Returns the actors of a conversation's audit entries. */
  async function actorsOf(conversationId: string): Promise<string[]> {
    const rows = await query<{ actor: string }>(
      cli.stores.databaseUrl,
      `SELECT DISTINCT concat_ws(' ', actor_type, actor_id) AS actor FROM audit_entries WHERE entity_id = $1`,
      [conversationId],
    );
    return rows.map(({ actor }) => actor);
  }
});

describe('the data of a contact', () => {
  it('is exported to stdout or to a new file, and erased', async () => {
    const known = ['--workspace', 'acme', '--id'];
    const { id } = await cli.call(
      'contact',
      'create',
      '--workspace',
      'acme',
      '--name',
      'Zoë',
      '--identity',
      'widget:8',
    );
    const { id: conversation } = await cli.call(
      ...['conversation', 'create', '--workspace', 'acme', '--contact', id, '--channel', 'widget'],
    );
    await cli.call('message', 'receive', '--conversation', conversation, '--body', 'Hello?');

    const { stdout } = await cli.run(cli.env, 'contact', 'export', ...known, id);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(lines).toMatchObject([
      { type: 'contact', id, name: 'Zoë' },
      { type: 'identity', channel: 'WIDGET', externalId: '8' },
      { type: 'conversation', id: conversation },
      { type: 'message', conversationId: conversation, body: 'Hello?' },
    ]);
    const file = join(cli.folder, 'zoe.jsonl');
    expect(await cli.run(cli.env, 'contact', 'export', ...known, id, '--output', file)).toMatchObject({
      code: 0,
      stdout: '',
    });
    expect(readFileSync(file, 'utf8')).toBe(stdout);
    expect(await cli.run(cli.env, 'contact', 'export', ...known, id, '--output', file)).toMatchObject({
      code: 1,
    });

    const erasure = await cli.call('contact', 'erase', ...known, id);
    expect(erasure).toMatchObject({
      id: UUID,
      contactId: id,
      status: 'running',
      messages: 0,
      finishedAt: null,
    });
    expect(await cli.call('contact', 'erasure', ...known, erasure.id)).toEqual(erasure);
  });
});

function makeAgent(email: string, ...flags: string[]): Promise<any> {
  const named = ['--workspace', 'acme', '--name', 'Lin', '--email', email, '--role', 'AGENT'];
  return cli.call('agent', 'create', ...named, ...flags);
}
