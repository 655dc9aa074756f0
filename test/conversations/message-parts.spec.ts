import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { ListMessagesPartQuery } from '../../src/messages/message.dto';
import { MessagesService } from '../../src/messages/messages.service';
import { expectRefusal } from '../support/errors';
import { MessagingHost } from '../support/messaging-host';
import { subscribe, Subscription } from '../support/webhook-workspace';

describe('the parts of a conversation', () => {
  let host: MessagingHost;
  let own: Subscription;
  /** Ids of the messages, newest first. */
  let ids: string[];

  beforeAll(async () => {
    host = await MessagingHost.create();
    own = await subscribe(host, 'https://127.0.0.1:9999/hook');
    ids = [];
    for (let n = 0; n < 9; n++) {
      const { id } = await host.make.received(own.workspace, own.conversation, `Message ${n}`);
      ids.unshift(id);
    }
  });

  const list = (query: Partial<ListMessagesPartQuery>, conversationId = own.conversation.id) =>
    host.get(MessagesService).listPart(own.id, conversationId, query, SYSTEM);
  /** Lists the positions of a part's messages and of its cursors; the newest message has the position 0. */
  const positions = async (query: Partial<ListMessagesPartQuery>) => {
    const { data, nextCursor, previousCursor } = await list(query);
    return [data.map(({ id }) => ids.indexOf(id)), ids.indexOf(nextCursor!), ids.indexOf(previousCursor!)];
  };

  it('have a message in their middle, and never more than the limit', async () => {
    expect(await positions({ around: ids[4], limit: 4 })).toEqual([[2, 3, 4, 5], 5, 2]);
    expect(await positions({ around: ids[4], limit: 5 })).toEqual([[2, 3, 4, 5, 6], 6, 2]);
    expect(await positions({ around: ids[4], limit: 1 })).toEqual([[4], 4, 4]);
    expect(await positions({ around: ids[0], limit: 4 })).toEqual([[0, 1], 1, -1]);
    expect(await positions({ around: ids[8], limit: 4 })).toEqual([[6, 7, 8], -1, 6]);
    expect(await positions({ around: ids[4], limit: 50 })).toEqual([[0, 1, 2, 3, 4, 5, 6, 7, 8], -1, -1]);
  });

  it('go on to what is newer and to what is older, without a gap and without a message twice', async () => {
    expect(await positions({ after: ids[4], limit: 3 })).toEqual([[1, 2, 3], 3, 1]);
    expect(await positions({ after: ids[1], limit: 3 })).toEqual([[0], 0, -1]);
    expect(await positions({ after: ids[0], limit: 3 })).toEqual([[], -1, -1]);
    expect(await positions({ cursor: ids[6], limit: 3 })).toEqual([[7, 8], -1, -1]);
    expect(await positions({ limit: 3 })).toEqual([[0, 1, 2], 2, -1]);
  });

  it('begin at one message alone, in a conversation of the workspace', async () => {
    await expectRefusal(list({ around: ids[4], after: ids[2] }), 'INVALID_QUERY');
    await expectRefusal(list({ after: ids[4], cursor: ids[2] }), 'INVALID_QUERY');
    await expectRefusal(list({ around: 'nope' }), 'INVALID_QUERY');
    const foreign = await host.make.conversation(await host.make.workspace());
    for (const id of [foreign.id, newId(), 'nope'])
      for (const query of [{ around: ids[4] }, { after: ids[4] }, {}])
        await expectRefusal(list(query, id), 'NOT_FOUND');
  });
});
