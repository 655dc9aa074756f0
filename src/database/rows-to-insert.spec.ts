import { rowsToInsert } from './rows-to-insert';

describe('the rows of an INSERT', () => {
  const columns = (count: number) => [
    { name: 'id', type: 'uuid', values: Array.from({ length: count }, (_, n) => `id-${n}`) },
    {
      name: 'due_at',
      type: 'integer',
      values: Array.from({ length: count }, (_, n) => n),
      write: (delay: string) => `now() + ${delay} * interval '1 millisecond'`,
    },
  ];

  it('are lists in one text, however many there are', () => {
    const [one] = rowsToInsert(columns(1), { spansWorkspaces: true });
    const [many, ...others] = rowsToInsert(columns(13), { spansWorkspaces: true });
    expect(others).toEqual([]);
    expect(many!.rows).toBe(one!.rows);
    expect(many!.rows).toBe(
      `SELECT id, now() + due_at * interval '1 millisecond' FROM unnest($1::uuid[], $2::integer[]) AS inserted (id, due_at)`,
    );
    expect(one!.parameters).toEqual([['id-0'], [0]]);
  });

  it('are values in a few texts, each row once', () => {
    const parts = rowsToInsert(columns(13), { spansWorkspaces: false });
    expect(parts.map(({ rows }) => rows.split('), (').length)).toEqual([8, 4, 1]);
    expect(
      parts.flatMap(({ parameters }) => parameters.filter((one) => String(one).startsWith('id'))),
    ).toEqual(columns(13)[0]!.values);
    expect(parts.at(-1)).toEqual({
      rows: `VALUES ($1::uuid, now() + $2::integer * interval '1 millisecond')`,
      parameters: ['id-12', 12],
    });
  });

  it('get SQL for what has no list', () => {
    const computed = [...columns(2).slice(0, 1), { name: 'at', sql: 'now()' }];
    expect(rowsToInsert(computed, { spansWorkspaces: true })).toEqual([
      { rows: 'SELECT id, now() FROM unnest($1::uuid[]) AS inserted (id)', parameters: [['id-0', 'id-1']] },
    ]);
    expect(rowsToInsert(computed, { spansWorkspaces: false })).toEqual([
      { rows: 'VALUES ($1::uuid, now()), ($2::uuid, now())', parameters: ['id-0', 'id-1'] },
    ]);
  });
});
