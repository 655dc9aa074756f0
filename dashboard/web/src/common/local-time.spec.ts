import { fromLocal, toLocal } from './local-time';

describe('the field of a time', () => {
  it('has a time as it writes it, and gives it back', () => {
    const moment = '2026-11-23T01:02:03.000Z';
    expect(toLocal(moment)).toMatch(/^2026-11-2[234]T\d\d:\d\d:03$/);
    expect(fromLocal(toLocal(moment))).toBe(moment);
  });

  it.each([undefined, '', 'yesterday'])('has no time for %j', (text) => {
    expect(toLocal(text)).toBe('');
    expect(fromLocal(text ?? '')).toBeUndefined();
  });
});
