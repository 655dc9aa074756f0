import { ApiError } from '../../../api/client';
import { goesByItself, toError, toFailure } from './kept-failure';

const NOW = Date.parse('2026-11-23T12:00:00Z');
const HOUR_MS = 3_600_000;

const refused = (status: number) => toFailure(new ApiError('CODE', 'Refused.', status, 'r1'));

describe('a failure that the browser keeps', () => {
  it('is the same error again after its way through the storage', () => {
    const details = [{ field: 'body', message: 'is too long' }];
    const reason = { reason: 'colleague_replied' as const, values: {} };
    const error = new ApiError('CONFLICT', 'Somebody replied.', 409, 'r1', details, 5, reason);
    const kept = JSON.parse(JSON.stringify(toFailure(error))) as ReturnType<typeof toFailure>;
    const again = toError(kept);
    expect(again).toBeInstanceOf(ApiError);
    expect({ ...again, message: again.message }).toEqual({ ...error, message: error.message });
  });

  it.each([[new TypeError('Failed to fetch')], ['anything'], [undefined]])(
    'is that no answer came, for %p',
    (error) => {
      expect(toFailure(error)).toMatchObject({ code: 'NETWORK', status: 0, message: 'No answer.' });
    },
  );
});

describe('a kept message', () => {
  it.each([
    [0, true],
    [401, true],
    [500, true],
    [503, true],
    [400, false],
    [403, false],
    [409, false],
    [429, false],
  ])('that failed with status %i goes out by itself: %p', (status, goes) => {
    const message = { failure: refused(status), writtenAt: NOW };
    expect([goesByItself(message, false, NOW), goesByItself(message, true, NOW)]).toEqual([goes, goes]);
  });

  it('that has not failed goes out only when the page begins', () => {
    const message = { writtenAt: NOW };
    expect([goesByItself(message, true, NOW), goesByItself(message, false, NOW)]).toEqual([true, false]);
  });

  it('goes out only while the server knows its key', () => {
    const failure = refused(0);
    expect(goesByItself({ failure, writtenAt: NOW - 23 * HOUR_MS }, false, NOW)).toBe(true);
    expect(goesByItself({ failure, writtenAt: NOW - 23 * HOUR_MS - 1 }, false, NOW)).toBe(false);
    expect(goesByItself({ writtenAt: NOW - 24 * HOUR_MS }, true, NOW)).toBe(false);
  });

  it('without a time counts as old', () => {
    expect(goesByItself({ failure: refused(0) }, true, NOW)).toBe(false);
  });
});
