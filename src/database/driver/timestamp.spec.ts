import { types } from 'pg';
import { parseTimestamp, parseTimestampForJson } from './timestamp';

const parseByPg = types.getTypeParser(types.builtins.TIMESTAMPTZ) as (text: string) => unknown;

describe.each([parseTimestamp, parseTimestampForJson])('%p', (parse) => {
  it.each([
    ['2026-11-20 09:41:07+00', '2026-11-20T09:41:07.000Z'],
    ['2026-11-20 09:41:07.5+00', '2026-11-20T09:41:07.500Z'],
    ['2026-11-20 09:41:07.51+00', '2026-11-20T09:41:07.510Z'],
    ['2026-11-20 09:41:07.512+00', '2026-11-20T09:41:07.512Z'],
    ['2026-11-20 09:41:07.512999+00', '2026-11-20T09:41:07.512Z'],
    ['1969-12-31 23:59:59.001+00', '1969-12-31T23:59:59.001Z'],
    ['2024-02-29 00:00:00.007+00', '2024-02-29T00:00:00.007Z'],
    ['2026-11-20 15:11:07.512+05:30', '2026-11-20T09:41:07.512Z'],
    ['2026-11-20 06:41:07-03', '2026-11-20T09:41:07.000Z'],
    ['12026-11-20 09:41:07+00', '+012026-11-20T09:41:07.000Z'],
  ])('%s is %s', (text, iso) => {
    expect(parse(text).toISOString()).toBe(iso);
    expect(parse(text).toJSON()).toBe(iso);
  });

  it.each(['infinity', '-infinity', '0044-03-15 12:00:00+00 BC', '0044-03-15 12:00:00+00'])(
    '%s is what pg parses it as',
    (text) => expect(parse(text)).toEqual(parseByPg(text)),
  );
});

it('a date that was changed after parsing has its new value in JSON', () => {
  const date = parseTimestampForJson('2026-11-20 09:41:07+00');
  date.setUTCFullYear(2030);
  expect(date.toJSON()).toBe('2030-11-20T09:41:07.000Z');
});
