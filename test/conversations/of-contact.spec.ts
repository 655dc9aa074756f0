import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { ContactConversationsService } from '../../src/conversations/contact-conversations.service';
import { MessagesService } from '../../src/messages/messages.service';
import { expectRefusal } from '../support/errors';
import { MessagingHost } from '../support/messaging-host';
import { WorkspaceEntity } from '../../src/workspaces/workspace.entity';

describe('the conversations of a contact', () => {
  let host: MessagingHost;
  let workspace: WorkspaceEntity;
  let contactId: string;

  beforeAll(async () => {
    host = await MessagingHost.create();
  });
  beforeEach(async () => {
    workspace = await host.make.workspace();
    contactId = (await host.make.contact(workspace)).id;
  });

  const list = (query: { limit?: number; cursor?: string } = {}, id = contactId) =>
    host.get(ContactConversationsService).list(workspace.id, id, query, SYSTEM);
  const make = async (channel: 'WIDGET' | 'TELEGRAM' = 'WIDGET') =>
    (await host.make.conversation(workspace, { channel, contactId })).id;

  it('are those of all channels and statuses, the latest activity first, page by page', async () => {
    const [first, second, third] = [await make(), await make('TELEGRAM'), await make()];
    await host.make.conversation(workspace);
    await host.make.received(workspace, { id: first }, 'Where is my parcel?');
    await host.make.updateConversation(workspace, { id: first }, { status: 'CLOSED' });
    const { data, nextCursor } = await list();
    expect(data.map(({ id }) => id)).toEqual([first, third, second]);
    expect(nextCursor).toBeNull();
    expect(data[0]).toMatchObject({
      status: 'CLOSED',
      lastMessagePreview: 'Where is my parcel?',
      lastSenderAgentId: null,
    });

    const paged: string[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await list({ limit: 1, cursor });
      paged.push(...page.data.map(({ id }) => id));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect(paged).toEqual([first, third, second]);
  });

  it('name the agent who wrote last', async () => {
    const { id: senderAgentId } = await host.make.agent(workspace);
    const id = await make();
    await host.get(MessagesService).send(workspace.id, id, { body: 'On its way.', senderAgentId }, SYSTEM);
    expect((await list()).data).toMatchObject([{ id, lastSenderAgentId: senderAgentId }]);
  });

  it('are none for a new contact, and not found for one that is elsewhere or nowhere', async () => {
    expect(await list()).toEqual({ data: [], nextCursor: null });
    const other = await host.make.conversation(await host.make.workspace());
    for (const id of [other.contact.id, newId(), 'nope']) await expectRefusal(list({}, id), 'NOT_FOUND');
  });
});
