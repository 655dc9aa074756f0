import type { ConversationChange, Message, Note } from '../../../api/types';
import { entriesOf, idOf, shownOf } from './timeline-entries';

const at = (id: string, time: string) => ({ id, createdAt: `2026-11-23T${time}:00.000Z` });
const messages = (...items: [string, string][]) => items.map(([id, time]) => at(id, time) as Message);
const changes = (...items: [string, string][]) =>
  items.map(([id, time]) => at(id, time) as ConversationChange);
const notes = (...items: [string, string][]) => items.map(([id, time]) => at(id, time) as Note);

describe('the entries of a timeline', () => {
  it('are in the order of their times, the oldest first', () => {
    const entries = entriesOf(
      messages(['m2', '12:04'], ['m1', '12:00']),
      changes(['c2', '12:05'], ['c1', '12:01']),
      notes(['n1', '12:02']),
    );
    expect(entries.map(idOf)).toEqual(['m1', 'c1', 'n1', 'm2', 'c2']);
  });

  it('of one moment are the message, what it changed, and a note', () => {
    const entries = entriesOf(
      messages(['m2', '12:00'], ['m1', '12:00']),
      changes(['c2', '12:00'], ['c1', '12:00']),
      notes(['n1', '12:00']),
    );
    expect(entries.map(idOf)).toEqual(['m1', 'm2', 'c1', 'c2', 'n1']);
  });

  it('of one day, by the clock of this machine, have the same beginning of it', () => {
    const times = [
      new Date(2026, 10, 23, 23, 59),
      new Date(2026, 10, 23, 0, 0),
      new Date(2026, 10, 22, 23, 59),
    ];
    const sent = times.map((time, index) => ({ id: `m${index}`, createdAt: time.toISOString() }) as Message);
    const days = entriesOf(sent, [], []).map(({ day }) => new Date(day));
    expect(days).toEqual([new Date(2026, 10, 22), new Date(2026, 10, 23), new Date(2026, 10, 23)]);
  });

  it('are none of a conversation that is new', () => {
    expect(entriesOf([], [], [])).toEqual([]);
  });
});

describe('the changes beside messages', () => {
  const all = changes(['c3', '12:03'], ['c2', '12:02'], ['c1', '12:01']);
  const [, second] = all;
  const shown = (since?: string, until?: string) => shownOf(all, since, until).map(({ id }) => id);

  it('are those down to the oldest message, its moment with it', () => {
    expect(shown(second!.createdAt)).toEqual(['c3', 'c2']);
  });

  it('are those up to the newest message, its moment with it', () => {
    expect(shown(undefined, second!.createdAt)).toEqual(['c2', 'c1']);
  });

  it('are those between both, or all', () => {
    expect(shown(second!.createdAt, second!.createdAt)).toEqual(['c2']);
    expect(shown()).toEqual(['c3', 'c2', 'c1']);
  });
});
