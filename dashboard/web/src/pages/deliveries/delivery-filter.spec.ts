import { filterOf } from './delivery-filter';

describe('the filter of deliveries', () => {
  it('takes filters alone from an address', () => {
    expect(filterOf({ status: 'pending', cursor: 'x', period: '7d' } as object)).toEqual({
      status: 'pending',
    });
  });
});
