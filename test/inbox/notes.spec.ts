import { randomUUID } from 'node:crypto';
import { AuditService } from '../../src/audit/audit.service';
import { newId } from '../../src/common/ids';
import { Actor, SYSTEM } from '../../src/access/principal';
import { ConversationsService } from '../../src/conversations/conversations.service';
import { NotesService } from '../../src/inbox/notes/notes.service';
import { MessageRetentionService } from '../../src/privacy/message-retention.service';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { expectRefusal } from '../support/errors';
import { MessagingHost } from '../support/messaging-host';
import { makeOldConversation } from '../support/stored-messages';

type Agent = Actor & { id: string };

describe('notes for colleagues', () => {
  let host: MessagingHost;
  let workspace: WorkspaceEntity;
  let notes: NotesService;
  let lin: Agent;
  let mia: Agent;
  let conversation: { id: string };

  beforeAll(async () => {
    host = await MessagingHost.create();
    notes = host.get(NotesService);
  });
  beforeEach(async () => {
    workspace = await host.make.workspace();
    [lin, mia] = [await agent('AGENT'), await agent('AGENT')];
    conversation = await host.make.conversation(workspace);
  });

  const agent = async (
    role: 'AGENT' | 'ADMIN' | 'OWNER',
    of: { id: string } = workspace,
  ): Promise<Agent> => ({
    type: 'agent',
    id: (await host.make.agent(of, { role })).id,
  });
  const write = (body: string, actor: Actor = lin, { id } = conversation) =>
    notes.create(workspace.id, id, { body }, actor);
  const bodies = async ({ id } = conversation) =>
    (await notes.list(workspace.id, id, {}, lin)).data.map(({ body }) => body);

  it('are listed newest first, each with its author, in pages', async () => {
    const first = await write('Ask for the order number.');
    const second = await write('Done.', mia);
    await write('Elsewhere', lin, await host.make.conversation(workspace));
    expect(first).toEqual({
      id: expect.any(String),
      authorAgentId: lin.id,
      body: 'Ask for the order number.',
      createdAt: expect.any(Date),
    });
    const page = await notes.list(workspace.id, conversation.id, { limit: 1 }, mia);
    expect(page).toEqual({ data: [second], nextCursor: second.id });
    const rest = await notes.list(workspace.id, conversation.id, { cursor: page.nextCursor! }, mia);
    expect(rest).toEqual({ data: [first], nextCursor: null });
  });

  it('leave the conversation and its messages as they are', async () => {
    const conversations = host.get(ConversationsService);
    const before = await conversations.get(workspace.id, conversation.id, SYSTEM);
    await write('Ask for the order number.');
    expect(await conversations.get(workspace.id, conversation.id, SYSTEM)).toEqual(before);
    expect((await conversations.listChanges(workspace.id, conversation.id, {}, lin)).data).toEqual([]);
  });

  it('are written by agents alone, up to 4,096 characters', async () => {
    await write('é'.repeat(4096));
    for (const body of ['', ' \n', 'é'.repeat(4097), 'NUL \0'])
      await expectRefusal(write(body), 'INVALID_BODY');
    for (const actor of [SYSTEM, { type: 'operator', name: 'lin' }] as const)
      await expectRefusal(write('Hello', actor), 'INVALID_BODY');
    const { id } = await host.make.apiKey(workspace);
    await expectRefusal(write('Hello', { type: 'api_key', id }), 'FORBIDDEN');
    await expectRefusal(notes.list(workspace.id, conversation.id, {}, { type: 'api_key', id }), 'FORBIDDEN');
  });

  it('are written once, however often a request comes', async () => {
    const replays: boolean[] = [];
    const request = {
      key: randomUUID(),
      fingerprint: () => Buffer.from('one'),
      isSame: () => true,
      markReplayed: () => void replays.push(true),
    };
    const send = () => notes.create(workspace.id, conversation.id, { body: 'Once' }, lin, request);
    const first = await send();
    expect(JSON.parse(JSON.stringify(await send()))).toEqual(JSON.parse(JSON.stringify(first)));
    expect(replays).toEqual([true]);
    expect(await bodies()).toEqual(['Once']);
  });

  it('are deleted by their authors and by who manages the workspace', async () => {
    const [admin, owner] = [await agent('ADMIN'), await agent('OWNER')];
    const [one, two, three] = [await write('One'), await write('Two'), await write('Three')];
    await expectRefusal(notes.delete(workspace.id, one.id, mia), 'FORBIDDEN');
    expect(await bodies()).toEqual(['Three', 'Two', 'One']);
    await notes.delete(workspace.id, one.id, lin);
    await notes.delete(workspace.id, two.id, admin);
    await notes.delete(workspace.id, three.id, owner);
    expect(await bodies()).toEqual([]);
    await expectRefusal(notes.delete(workspace.id, one.id, lin), 'NOT_FOUND');
  });

  it('are of one workspace', async () => {
    const { id } = await write('Ours');
    const elsewhere = await host.make.workspace();
    const stranger = await agent('OWNER', elsewhere);
    await expectRefusal(notes.list(elsewhere.id, conversation.id, {}, stranger), 'NOT_FOUND');
    await expectRefusal(notes.create(elsewhere.id, conversation.id, { body: 'Hi' }, stranger), 'NOT_FOUND');
    await expectRefusal(notes.delete(elsewhere.id, id, stranger), 'NOT_FOUND');
    for (const missing of [newId(), 'nope']) {
      await expectRefusal(notes.list(workspace.id, missing, {}, lin), 'NOT_FOUND');
      await expectRefusal(notes.create(workspace.id, missing, { body: 'Hi' }, lin), 'NOT_FOUND');
      await expectRefusal(notes.delete(workspace.id, missing, lin), 'NOT_FOUND');
    }
    expect(await bodies()).toEqual(['Ours']);
  });

  it('stand in the audit log without their text', async () => {
    const { id } = await write('Secret words');
    await notes.delete(workspace.id, id, lin);
    const { data } = await host.get(AuditService).list(workspace.id, { entityId: conversation.id }, SYSTEM);
    expect(data).toMatchObject(
      ['conversation.note_deleted', 'conversation.note_created'].map((action) => ({
        action,
        actorId: lin.id,
        metadata: { noteId: id, conversationId: conversation.id },
      })),
    );
    expect(JSON.stringify(data)).not.toContain('Secret words');
  });

  it('go with the messages at the age that the workspace has set, also where there is no message', async () => {
    const old = await makeOldConversation(host, workspace, [40]);
    await host.query('DELETE FROM messages WHERE tenant_id = $1', [workspace.id]);
    const [expired, young] = [await write('Old', lin, old), await write('Young', lin, old)];
    await age(expired.id, 35);
    await host.get(WorkspacesService).update(workspace.id, { messageRetentionDays: 30 }, SYSTEM);
    await host.get(MessageRetentionService).clean();
    expect(await notes.list(workspace.id, old.id, {}, lin)).toMatchObject({ data: [{ id: young.id }] });
  });

  /** Makes a note and its audit entry older, by their ids. */
  async function age(id: string, days: number): Promise<void> {
    const ms = (Date.now() - days * 86_400_000).toString(16).padStart(12, '0');
    const aged = `${ms.slice(0, 8)}-${ms.slice(8)}${id.slice(13)}`;
    await host.query('UPDATE notes SET id = $3 WHERE tenant_id = $1 AND id = $2', [workspace.id, id, aged]);
    await host.query('UPDATE audit_entries SET id = $3 WHERE tenant_id = $1 AND id = $2', [
      workspace.id,
      id,
      aged,
    ]);
  }
});
