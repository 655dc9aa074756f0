import {
  beginChange,
  endChange,
  type PendingChange,
  readConversation,
  readWithChanges,
} from './pending-changes';

/** Begins a read that notes which conversations' changes it makes in its answer, and does not end yet. */
function beginRead() {
  let answer = (_made: string[]) => {};
  let fail = (_error: Error) => {};
  const answered = new Promise<string[]>((resolve, reject) => {
    answer = resolve;
    fail = reject;
  });
  const make = (made: string[], { conversationId }: PendingChange) => [...made, conversationId];
  return { changes: readWithChanges(() => answered, make), answer: () => answer([]), fail };
}

const close = (conversationId: string) => beginChange(conversationId, { status: 'CLOSED' });

describe('an answer', () => {
  it('has a change that the server makes while it reads', async () => {
    const change = close('a');
    const read = beginRead();
    endChange(change, false);
    read.answer();
    expect(await read.changes).toEqual(['a']);
  });

  it('has a change that begins while the server reads, whether it ends meanwhile or not', async () => {
    const read = beginRead();
    const pending = close('a');
    endChange(close('b'), false);
    read.answer();
    expect(await read.changes).toEqual(['a', 'b']);
    endChange(pending, false);
  });

  it('has the changes in the order in which they were made', async () => {
    const changes = ['c', 'a'].map(close);
    const read = beginRead();
    changes.push(close('b'));
    read.answer();
    expect(await read.changes).toEqual(['c', 'a', 'b']);
    for (const change of changes) endChange(change, false);
  });

  it('does not have a change that the server refuses', async () => {
    const refused = close('a');
    const read = beginRead();
    endChange(refused, true);
    endChange(close('b'), true);
    read.answer();
    expect(await read.changes).toEqual([]);
  });

  it('knows by itself of a change that had ended before', async () => {
    endChange(close('a'), false);
    const read = beginRead();
    read.answer();
    expect(await read.changes).toEqual([]);
  });

  it('that fails takes nothing from the next one', async () => {
    const change = close('a');
    const failing = beginRead();
    failing.fail(new Error('No answer.'));
    await expect(failing.changes).rejects.toThrow('No answer.');
    const next = beginRead();
    next.answer();
    expect(await next.changes).toEqual(['a']);
    endChange(change, false);
  });

  it('has a change in each of two reads beside each other', async () => {
    const first = beginRead();
    const change = close('a');
    const second = beginRead();
    endChange(change, false);
    first.answer();
    second.answer();
    expect(await Promise.all([first.changes, second.changes])).toEqual([['a'], ['a']]);
  });

  it('needs no change that never began', () => {
    expect(() => endChange(undefined, true)).not.toThrow();
  });
});

describe('a conversation that is read', () => {
  it('has the pending changes of its own alone', async () => {
    const { fetch } = globalThis;
    let answer = (_response: Response) => {};
    globalThis.fetch = () => new Promise((resolve) => (answer = resolve));
    const own = close('a');
    const read = readConversation('w', 'a');
    endChange(beginChange('a', { assignedAgentId: 'me' }), false);
    const other = beginChange('b', { status: 'SNOOZED' });
    endChange(own, false);
    answer(Response.json({ id: 'a', status: 'OPEN', assignedAgentId: null }));
    expect(await read).toEqual({ id: 'a', status: 'CLOSED', assignedAgentId: 'me' });
    endChange(other, false);
    globalThis.fetch = fetch;
  });
});
