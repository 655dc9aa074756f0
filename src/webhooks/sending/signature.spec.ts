import { Webhook } from 'standardwebhooks';
import { generateEndpointSecret, serviceSignature, standardSignature } from './signature';

describe('generateEndpointSecret', () => {
  it('is whsec_ and 32 bytes of standard base64, new each time', () => {
    const secret = generateEndpointSecret();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(generateEndpointSecret()).not.toBe(secret);
  });
});

describe('serviceSignature', () => {
  it('matches RFC 4231, test case 2', () => {
    expect(serviceSignature('Jefe', 'what do ya want for nothing?')).toBe(
      'sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });

  it('signs bytes and text alike', () => {
    const body = '{"text":"Zoë 漢字"}';
    expect(serviceSignature('whsec_x', Buffer.from(body))).toBe(serviceSignature('whsec_x', body));
  });
});

describe('standardSignature', () => {
  it("matches the specification's own example", () => {
    expect(
      standardSignature(
        'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
        'msg_p5jXN8AQM9LWM0D4loKWxJek',
        1614265330,
        '{"test": 2432232314}',
      ),
    ).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('is accepted by the standardwebhooks library, and refused over another body', () => {
    const secret = generateEndpointSecret();
    const timestamp = Math.floor(Date.now() / 1000);
    const body = '{"text":"Zoë 漢字"}';
    const headers = {
      'webhook-id': 'delivery-1',
      'webhook-timestamp': String(timestamp),
      'webhook-signature': standardSignature(secret, 'delivery-1', timestamp, Buffer.from(body)),
    };
    expect(new Webhook(secret).verify(body, headers)).toEqual({ text: 'Zoë 漢字' });
    expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow('No matching signature');
  });

  it('refuses a secret of another form', () => {
    expect(() => standardSignature('c2VjcmV0', 'id', 1, '')).toThrow('starts with whsec_');
  });
});
