import { createHmac } from 'node:crypto';
import { answerHandshake, isSignedBy, chooseVerifyToken } from './meta-adapter';

const SECRET = '0123456789abcdef0123456789abcdef';
const rawBody = Buffer.from('{"object":"page","text":"¿Qué?"}');
const sign = (secret: string, bytes: Buffer) => createHmac('sha256', secret).update(bytes).digest('hex');
const request = (signature?: string | string[], body = rawBody) => ({
  headers: { 'x-hub-signature-256': signature } as Record<string, string>,
  rawBody: body,
});

describe("Meta's signature", () => {
  const good = `sha256=${sign(SECRET, rawBody)}`;

  it('covers the exact bytes', () => {
    expect(isSignedBy(request(good), SECRET)).toBe(true);
    expect(isSignedBy(request(good, Buffer.concat([rawBody, Buffer.from(' ')])), SECRET)).toBe(false);
  });

  it.each([
    ['none', undefined],
    ['an empty one', ''],
    ["another secret's", `sha256=${sign('another', rawBody)}`],
    ['one without its method', sign(SECRET, rawBody)],
    ['one of another method', good.replace('sha256', 'sha1')],
    ['a cut one', good.slice(0, -1)],
    ['several', [good, good]],
  ])('is refused: %s', (_, signature) => expect(isSignedBy(request(signature), SECRET)).toBe(false));
});

describe("Meta's handshake", () => {
  const query = { 'hub.mode': 'subscribe', 'hub.verify_token': 'T', 'hub.challenge': '1158201444' };

  it('returns the challenge', () => expect(answerHandshake('T', query)).toBe('1158201444'));

  it.each([
    ['another token', { ...query, 'hub.verify_token': 'U' }],
    ['no token', { ...query, 'hub.verify_token': undefined }],
    ['a token given twice', { ...query, 'hub.verify_token': ['T', 'T'] }],
    ['another mode', { ...query, 'hub.mode': 'unsubscribe' }],
    ['no challenge', { ...query, 'hub.challenge': undefined }],
    ['nothing', {}],
  ])('is refused: %s', (_, given) => expect(answerHandshake('T', given)).toBeNull());

  it('uses the given token, or the previous one, or a random one', () => {
    expect(chooseVerifyToken('given', { verifyToken: 'before' })).toBe('given');
    expect(chooseVerifyToken(undefined, { verifyToken: 'before' })).toBe('before');
    expect(chooseVerifyToken(undefined)).toMatch(/^[\w-]{32}$/);
  });
});
