import { rowsToInsert } from './rows-to-insert';

describe('the rows of an INSERT', () => {
  const columns = (count: number) => [
    { name: 'id', type: 'uuid', values: Array.from({ length: count }, (_, n) => `id-${n}`) },
    {
      name: 'due_at',
      type: 'integer',
      values: Array.from({ length: count }, (_, n) => n),
      write: (delay: string, start: string) => `${start} + ${delay} * interval '1 millisecond'`,
    },
  ];

  it('are lists in one text, however many there are', () => {
    const [one] = rowsToInsert(columns(1), { spansWorkspaces: true });
    const [many, ...others] = rowsToInsert(columns(13), { spansWorkspaces: true });
    expect(others).toEqual([]);
    expect(many!.rows).toBe(one!.rows);
    expect(many!.rows).toBe(
      `SELECT id, $3::timestamptz + due_at * interval '1 millisecond' FROM unnest($1::uuid[], $2::integer[]) AS inserted (id, due_at)`,
    );
    expect(one!.parameters).toEqual([['id-0'], [0], 'now']);
  });

  it('are values in a few texts, each row once', () => {
    const parts = rowsToInsert(columns(13), { spansWorkspaces: false });
    expect(parts.map(({ rows }) => rows.split('), (').length)).toEqual([8, 4, 1]);
    expect(
      parts.flatMap(({ parameters }) => parameters.filter((one) => String(one).startsWith('id'))),
    ).toEqual(columns(13)[0]!.values);
    expect(parts.at(-1)).toEqual({
      rows: `VALUES ($1::uuid, $3::timestamptz + $2::integer * interval '1 millisecond')`,
      parameters: ['id-12', 12, 'now'],
    });
  });

  it('have no parameter that their text does not name', () => {
    const [{ rows, parameters }] = rowsToInsert(columns(2).slice(0, 1), { spansWorkspaces: false }) as [
      ReturnType<typeof rowsToInsert>[0],
    ];
    expect(rows).toBe('VALUES ($1::uuid), ($2::uuid)');
    expect(parameters).toEqual(['id-0', 'id-1']);
  });
});
