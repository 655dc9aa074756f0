import { faultOfError, isShortage } from './attempt-outcome';
import { ConnectionFailure } from '../../outgoing/vetted-connector';

const failedBy = (code: string) =>
  new ConnectionFailure(
    'connect',
    false,
    `Could not connect (${code})`,
    Object.assign(new Error(), { code }),
  );

describe('a shortage of this process', () => {
  it.each(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'])(
    'is %s, and no failure of a receiver',
    (code) => {
      expect(isShortage(failedBy(code))).toBe(true);
      expect(faultOfError(failedBy(code))).toBeNull();
    },
  );

  it.each(['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH'])('is not %s', (code) => {
    expect(isShortage(failedBy(code))).toBe(false);
    expect(faultOfError(failedBy(code))).toMatchObject({ error: 'connect' });
  });

  it('is no timeout, which has no cause', () => {
    expect(faultOfError(new ConnectionFailure('tls', true, 'No answer in time'))).toMatchObject({
      error: 'timeout',
    });
  });
});
