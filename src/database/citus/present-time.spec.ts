import { withPresentTime } from './present-time';

describe('the present time of a statement', () => {
  it('is one parameter behind the others, however often the statement names it', () => {
    const sql = 'UPDATE t SET at = now() WHERE id = $2 AND key = $10 AND at < now() - $1 * interval $$1 s$$';
    expect(withPresentTime(sql, ['a', 'b'])).toEqual([
      'UPDATE t SET at = $11::timestamptz WHERE id = $2 AND key = $10 AND at < $11::timestamptz - $1 * interval $$1 s$$',
      ['a', 'b', 'now'],
    ]);
  });

  it('is the only parameter of a statement without others', () => {
    expect(withPresentTime('SELECT now() AS now', [])).toEqual(['SELECT $1::timestamptz AS now', ['now']]);
  });

  it('is left out of a statement that does not ask for it', () => {
    const parameters = [1];
    for (const sql of [
      'SELECT known() FROM t WHERE id = $1',
      `SELECT 'it''s now() or $2', "now()" FROM t WHERE id = $1`,
      'SELECT 1 -- not now()\nFROM t WHERE id = $1',
      'SELECT 1 /* now()\n$3 */ FROM t WHERE id = $1',
    ]) {
      const [text, values] = withPresentTime(sql, parameters);
      expect(text).toBe(sql);
      expect(values).toBe(parameters);
    }
  });

  it('does not take a number in a literal for that of a parameter', () => {
    const [text] = withPresentTime(`SELECT '$7', now() - $1 -- $9`, [1]);
    expect(text).toBe(`SELECT '$7', $2::timestamptz - $1 -- $9`);
  });
});
