import { idFloor, idTime, isId, newId, newIdAfter } from './ids';

describe('ids', () => {
  it('are UUIDv7 and increase', () => {
    const ids = Array.from({ length: 1000 }, newId);
    expect(ids.every((id) => isId(id) && id[14] === '7')).toBe(true);
    expect([...ids].sort()).toEqual(ids);
  });

  it('sort above the last one even when it was made by a clock that runs ahead', () => {
    const ahead = idFloor(new Date(Date.now() + 60_000));
    const next = newIdAfter(ahead);
    expect(next > ahead).toBe(true);
    expect(isId(next) && next[14] === '7' && '89ab'.includes(next[19]!)).toBe(true);
  });

  it('carry from the random bits into the timestamp', () => {
    const full = 'ffffffff-0000-7fff-bfff-ffffffffffff';
    expect(newIdAfter(full)).toBe('ffffffff-0001-7000-8000-000000000000');
  });

  it('take a new id when the last one is older', () => {
    const old = idFloor(new Date(0));
    expect(newIdAfter(old) > newIdAfter(null).slice(0, 8)).toBe(true);
    expect(newIdAfter(old).slice(0, 8)).not.toBe(old.slice(0, 8));
  });

  it('have a floor that no id of a later moment falls below', () => {
    const before = new Date(Date.now() - 1);
    expect(newId() > idFloor(before)).toBe(true);
    expect(idFloor(new Date(Date.now() + 5000)) > newId()).toBe(true);
  });

  it('tell when they were made', () => {
    const moment = new Date('2026-11-23T10:20:30.456Z');
    expect(idTime(idFloor(moment))).toEqual(moment);
  });

  it.each(['', 'x', '123', null, 42, 'g0000000-0000-7000-8000-000000000000', `${newId()} `])(
    'refuse %p',
    (value) => expect(isId(value)).toBe(false),
  );
});
