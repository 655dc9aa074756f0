import { shortId } from './short-id';

describe('the short form of an id', () => {
  it('is its end', () => {
    expect([shortId('019ab3f4-5c1e-7d2a-9b34-2f6f0c7f1a11'), shortId('short')]).toEqual([
      '…0c7f1a11',
      'short',
    ]);
  });
});
