import { graphOutcome } from './graph-api';
import { Verdicts } from '../channel-adapter';
import { INSTAGRAM_VERDICTS, MESSENGER_VERDICTS } from './messaging-codes';
import { textOf } from '../provider-values';

type Code = number | [code: number, subcode: number];

const answer = (verdicts: Verdicts, status: number, body: unknown, headers: Record<string, unknown> = {}) =>
  graphOutcome({ kind: 'answered', status, headers, body }, verdicts, ({ message_id }) => textOf(message_id));

const refusal = (verdicts: Verdicts, given: Code, status = 400) => {
  const [code, error_subcode] = [given].flat();
  return answer(verdicts, status, { error: { message: 'No', type: 'OAuthException', code, error_subcode } });
};

const KINDS: [string, Verdicts, string, Code[]][] = [
  ['Messenger', MESSENGER_VERDICTS, 'WINDOW', [[10, 2018278]]],
  ['Messenger', MESSENGER_VERDICTS, 'REAUTH', [190, [190, 460], [190, 463]]],
  ['Messenger', MESSENGER_VERDICTS, 'RETRY', [4, [4, 2018022], 613, 1200, 2, 17, 32]],
  [
    'Messenger',
    MESSENGER_VERDICTS,
    'TERMINAL',
    [
      [10, 2018065],
      [10, 2018108],
      [10, 1893063],
      [551, 1545041],
      [100, 2018001],
      ...[10, 100, 200, 230, 368, 551],
    ],
  ],
  ['Instagram', INSTAGRAM_VERDICTS, 'WINDOW', [[10, 2534022]]],
  ['Instagram', INSTAGRAM_VERDICTS, 'REAUTH', [190, [190, 463]]],
  ['Instagram', INSTAGRAM_VERDICTS, 'RETRY', [4, 17, 32, 613, 2, [2, 1545133]]],
  [
    'Instagram',
    INSTAGRAM_VERDICTS,
    'TERMINAL',
    [551, 2534014, 2534001, [100, 2534014], [100, 2534001], [10, 2534000], 10, 100],
  ],
];

describe('error codes', () => {
  it.each(KINDS)('decide the outcome: %s', (_, verdicts, kind, codes) => {
    const kindOf = (code: Code) => [code, refusal(verdicts, code).kind];
    expect(codes.map(kindOf)).toEqual(codes.map((code) => [code, kind]));
  });

  it.each(KINDS)('decide over any status of the response: %s', (_, verdicts, kind, codes) => {
    for (const status of [200, 400, 500]) expect(refusal(verdicts, codes[0]!, status).kind).toBe(kind);
  });
});

describe.each([
  ['Messenger', MESSENGER_VERDICTS],
  ['Instagram', INSTAGRAM_VERDICTS],
])('%s', (_, verdicts) => {
  it('delays the whole connection for minutes at an hourly limit', () => {
    for (const code of [4, 17, 32, 613]) {
      expect(refusal(verdicts, code)).toMatchObject({ concerns: 'connection', afterMs: 300_000 });
    }
    expect(refusal(verdicts, 2)).not.toHaveProperty('concerns');
  });

  it('reports code and subcode', () => {
    expect(refusal(verdicts, [10, 1]).kind === 'TERMINAL' && refusal(verdicts, [10, 1])).toMatchObject({
      fault: { providerCode: '10/1', message: 'No' },
    });
  });

  it('is decided by the status if the code is unknown', () => {
    expect(refusal(verdicts, 999_999, 400)).toMatchObject({ kind: 'TERMINAL' });
    expect(refusal(verdicts, 999_999, 503)).toMatchObject({ kind: 'RETRY' });
    expect(answer(verdicts, 502, '<h1>Bad gateway</h1>')).toMatchObject({ kind: 'RETRY' });
    expect(answer(verdicts, 429, '', { 'retry-after': '30' })).toMatchObject({
      kind: 'RETRY',
      afterMs: 30_000,
    });
  });

  it('is SENT only with a message id', () => {
    expect(answer(verdicts, 200, { recipient_id: '1', message_id: 'm_1' })).toEqual({
      kind: 'SENT',
      providerId: 'm_1',
    });
    expect(answer(verdicts, 200, { recipient_id: '1' })).toMatchObject({ kind: 'UNKNOWN' });
  });
});
