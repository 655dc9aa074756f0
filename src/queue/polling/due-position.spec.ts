import { BEFORE_ALL_DUE, DuePosition, positionAfter } from './due-position';

it('comes to each row once, however many are due at one time', () => {
  const rows = ['1', '1', '1', '1', '1', '2', '2', '3'].map((dueAt, n) => ({ dueAt, n }));
  const read = ([dueAt, passed]: DuePosition) =>
    rows.filter((row) => dueAt === BEFORE_ALL_DUE[0] || row.dueAt >= dueAt).slice(passed, passed + 2);
  const found: number[] = [];
  for (let position: DuePosition | null = BEFORE_ALL_DUE; position;) {
    const step = read(position);
    found.push(...step.map(({ n }) => n));
    position = positionAfter(step, position, 2);
  }
  expect(found).toEqual(rows.map(({ n }) => n));
});
