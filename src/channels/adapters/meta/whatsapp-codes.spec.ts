import { graphOutcome } from './graph-api';
import { textOf } from '../provider-values';
import { WHATSAPP_VERDICTS } from './whatsapp-codes';

const answer = (status: number, body: unknown, headers: Record<string, unknown> = {}) =>
  graphOutcome({ kind: 'answered', status, headers, body }, WHATSAPP_VERDICTS, ({ id }) => textOf(id));

const refusal = (code: number, status = 400) =>
  answer(status, { error: { message: `(#${code}) No`, type: 'OAuthException', code } });

describe("WhatsApp's codes", () => {
  it.each([
    ['WINDOW', [131047]],
    ['REAUTH', [0, 190]],
    ['RETRY', [130429, 131056, 4, 80007, 2, 131000, 131016, 131048]],
    ['TERMINAL', [131026, 131049, 131050, 131051, 131030, 131031, 100, 33, 368, 10, 200, 230, 299]],
  ])('mean %s: %p', (kind, codes) => {
    const outcomes = codes.map((code) => [code, refusal(code)]);
    expect(outcomes).toEqual(
      codes.map((code) => [
        code,
        expect.objectContaining({ kind, fault: { providerCode: String(code), message: `(#${code}) No` } }),
      ]),
    );
  });

  it('decide over any status of the response', () => {
    expect(refusal(131047, 500)).toMatchObject({ kind: 'WINDOW' });
    expect(refusal(190, 200)).toMatchObject({ kind: 'REAUTH' });
  });

  it('delay the whole connection at a limit of the number', () => {
    expect(refusal(130429)).toMatchObject({ concerns: 'connection' });
    expect(refusal(130429)).not.toHaveProperty('afterMs');
    for (const hourly of [4, 80007]) {
      expect(refusal(hourly)).toMatchObject({ concerns: 'connection', afterMs: 300_000 });
    }
    expect(refusal(131048)).toMatchObject({ concerns: 'connection', afterMs: 300_000 });
    expect(refusal(131056)).toMatchObject({ afterMs: 16_000 });
    expect(refusal(131056)).not.toHaveProperty('concerns');
  });

  it('that are unknown leave the decision to the status', () => {
    expect(refusal(999_999, 400)).toMatchObject({ kind: 'TERMINAL' });
    expect(refusal(999_999, 503)).toMatchObject({ kind: 'RETRY' });
    expect(answer(502, '<h1>Bad gateway</h1>')).toMatchObject({ kind: 'RETRY' });
    expect(answer(429, '', { 'retry-after': '30' })).toMatchObject({ kind: 'RETRY', afterMs: 30_000 });
  });

  it('are never keys that every object inherits', () => {
    const error = { message: 'No', code: 'constructor' };
    expect(answer(400, { error })).toMatchObject({ kind: 'TERMINAL' });
  });

  it("come with Meta's explanation", () => {
    const error = {
      message: '(#131047) Re-engagement message',
      code: 131047,
      error_data: { messaging_product: 'whatsapp', details: 'More than 24 hours have passed.' },
    };
    expect(answer(400, { error })).toMatchObject({
      fault: { message: '(#131047) Re-engagement message: More than 24 hours have passed.' },
    });
  });

  it('are not needed: a response without an id is UNKNOWN', () => {
    expect(answer(200, { id: 'wamid.1' })).toEqual({ kind: 'SENT', providerId: 'wamid.1' });
    expect(answer(200, { id: null })).toMatchObject({ kind: 'UNKNOWN' });
    expect(answer(200, 'OK', {})).toMatchObject({ kind: 'UNKNOWN' });
  });
});
