import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Cell, CELLS, PARTS, PEOPLE, SILENCES, SUITES, textOf } from './silences';

const PAGE = resolve(__dirname, '../../docs/how-to/alerts.md');

/** Returns the rows of the page's table of silences, as lists of cells. */
function documented(): string[][] {
  const text = readFileSync(PAGE, 'utf8');
  const [table] = /^\| What fails +\|.*\n(?:\|.*\n)+/m.exec(text) ?? [];
  if (!table) throw new Error('The page has no table of silences');
  const [, , ...rows] = table.trim().split('\n');
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

describe('the table of silences', () => {
  it('has a cell for each of nine parts and three people, and no empty one', () => {
    expect(Object.keys(PARTS)).toHaveLength(9);
    expect(CELLS).toHaveLength(27);
    expect(Object.keys(SILENCES).sort()).toEqual([...CELLS].sort());
    const texts = CELLS.flatMap((name) => Object.values<string>(SILENCES[name]));
    expect(texts.filter((text) => text.trim() === '')).toEqual([]);
  });

  it('is the one of the documentation', () => {
    const rows = Object.entries(PARTS).map(([part, name]) => [
      name,
      ...PEOPLE.map((person) => textOf(SILENCES[`${part as keyof typeof PARTS}: ${person}`] as Cell)),
    ]);
    expect(documented()).toEqual(rows);
  });

  it.each(Object.entries(SUITES))('has scenarios in the suite of %s', (suite, file) => {
    expect(readFileSync(resolve(__dirname, file), 'utf8')).toMatch(
      new RegExp(`\\btestSilences\\(\\s*'${suite}'`),
    );
  });
});
