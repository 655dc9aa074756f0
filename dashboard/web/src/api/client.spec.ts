import { toQuery } from './client';

describe('the query of an address', () => {
  it('has only what is given', () => {
    expect(toQuery({ cursor: undefined, event: '', status: 'pending', limit: 5 })).toBe(
      '?status=pending&limit=5',
    );
    expect(toQuery({})).toBe('');
  });
});
