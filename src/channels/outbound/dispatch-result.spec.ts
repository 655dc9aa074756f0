import { resultOf } from './dispatch-result';

const adapter = { limits: { perSecond: 30, conversationIntervalMs: 1000 }, unknownHoldMs: 0 };

describe('the result of a message that was sent', () => {
  it('names it as its provider does', () => {
    expect(resultOf({ kind: 'SENT', providerId: 'm_1' }, adapter, 0)).toEqual({
      status: 'SENT',
      providerId: 'm_1',
      holdMs: 1000,
    });
  });

  it.each([null, '', 'a\0b', '\ud800', 'x'.repeat(5_000)])(
    'is that, with an id that can’t be kept: %j',
    (id) => {
      expect(resultOf({ kind: 'SENT', providerId: id }, adapter, 0)).toMatchObject({
        status: 'SENT',
        providerId: null,
      });
    },
  );
});
