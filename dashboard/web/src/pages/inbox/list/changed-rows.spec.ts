import type { ActiveConversation } from '../../../api/types';
import { withChangedRows } from './changed-rows';

/** Makes a row whose newest message has this id. */
const row = (id: string, lastMessageId: string | null) => ({ id, lastMessageId }) as ActiveConversation;

const LIST = {
  pages: [
    { data: [row('a', 'm9'), row('b', 'm8')], nextCursor: 'm8' },
    { data: [row('c', 'm5'), row('d', 'm4')], nextCursor: 'm4' },
  ],
  pageParams: [undefined, 'm8'],
};

/** Returns the ids of each page after changes. */
function idsAfter(
  ids: string[],
  rows: ActiveConversation[],
  list: Parameters<typeof withChangedRows>[0] = LIST,
) {
  return withChangedRows(list, ids, rows).pages.map(({ data }) => data.map(({ id }) => id));
}

describe('rows that have changed', () => {
  it('go up with a new message, out of a later page', () => {
    expect(idsAfter(['d'], [row('d', 'm99')])).toEqual([['d', 'a', 'b'], ['c']]);
  });

  it('go down with an older one', () => {
    expect(idsAfter(['a'], [row('a', 'm6')])).toEqual([['b'], ['a', 'c', 'd']]);
  });

  it('stay where they are when their newest message is the same, and show what is new', () => {
    const changed = { ...row('b', 'm8'), isUnread: true };
    const { pages } = withChangedRows(LIST, ['b'], [changed]);
    expect(pages[0]!.data).toEqual([row('a', 'm9'), changed]);
  });

  it('leave a list that does not have them any more', () => {
    expect(idsAfter(['a', 'c'], [])).toEqual([['b'], ['d']]);
  });

  it('come in between others, each into its page', () => {
    expect(idsAfter(['x', 'y'], [row('x', 'm84'), row('y', 'm7')])).toEqual([
      ['a', 'x', 'b'],
      ['y', 'c', 'd'],
    ]);
  });

  it('are not shown below the last page, unless it is the end of the list', () => {
    expect(idsAfter(['x'], [row('x', 'm3')])).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    const whole = { pages: [{ ...LIST.pages[1]!, nextCursor: null }], pageParams: [undefined] };
    expect(idsAfter(['x'], [row('x', 'm3')], whole)).toEqual([['c', 'd', 'x']]);
  });

  it('stand by their own id before their first message', () => {
    expect(idsAfter(['m85'], [row('m85', null)])).toEqual([
      ['a', 'm85', 'b'],
      ['c', 'd'],
    ]);
  });

  it('stand by the message that waits in the view of those that wait, the longest waiting first', () => {
    const waiting = (id: string, waitingMessageId: string) =>
      ({ id, waitingMessageId, lastMessageId: 'm99' }) as ActiveConversation;
    const list = {
      pages: [
        { data: [waiting('a', 'm1'), waiting('b', 'm3')], nextCursor: 'm3' },
        { data: [waiting('c', 'm5')], nextCursor: null },
      ],
      pageParams: [undefined, 'm3'],
    };
    const { pages } = withChangedRows(
      list,
      ['a', 'x', 'y'],
      [waiting('y', 'm4'), waiting('x', 'm2'), waiting('a', 'm6')],
      'waiting',
    );
    expect(pages.map(({ data }) => data.map(({ id }) => id))).toEqual([
      ['x', 'b'],
      ['y', 'c', 'a'],
    ]);
  });

  it('leave the cursors, and the list that was given, as they were', () => {
    const before = structuredClone(LIST);
    const { pages, pageParams } = withChangedRows(LIST, ['d'], [row('d', 'm99')]);
    expect(LIST).toEqual(before);
    expect(pages.map(({ nextCursor }) => nextCursor)).toEqual(['m8', 'm4']);
    expect(pageParams).toEqual([undefined, 'm8']);
  });
});
