import { createDecipheriv, createECDH, ECDH, hkdfSync, randomBytes } from 'node:crypto';
import { importJWK, jwtVerify } from 'jose';
import { HttpsReceiver, ReceivedRequest } from './https-receiver';
import { Receiver } from './receiver';

/** Subscription as the page sends it to the dashboard. */
export interface Subscription {
  endpoint: string;
  p256dh: string;
  auth: string;
}

/** Notice as the browser gets it, with the request that brought it. */
export interface Pushed {
  path: string;
  headers: ReceivedRequest['headers'];
  content: unknown;
}

/** Keys with which a browser decrypts its notices. */
interface BrowserKeys {
  pair: ECDH;
  auth: Buffer;
}

/**
 * A push service on a local port, with the browsers that subscribe at it. It decrypts each notice (RFC 8291),
 * and checks its signature (RFC 8292).
 */
export class PushService {
  private readonly browsers = new Map<string, BrowserKeys>();

  private constructor(readonly receiver: HttpsReceiver) {
    this.answer(201);
  }

  static async start(): Promise<PushService> {
    const receiver = await Receiver.start();
    return new PushService(receiver.https);
  }

  get origin(): string {
    return `https://127.0.0.1:${this.receiver.port}`;
  }

  /** Answers each request with a status. */
  answer(status: number, headers: Record<string, string> = {}): void {
    this.receiver.respond = (response) => response.writeHead(status, headers).end();
  }

  /** Makes a subscription of a new browser. */
  subscribe(): Subscription {
    const pair = createECDH('prime256v1');
    const path = `/push/${randomBytes(16).toString('base64url')}`;
    const keys = { pair, auth: randomBytes(16) };
    const p256dh = pair.generateKeys('base64url');
    this.browsers.set(path, keys);
    return { endpoint: this.origin + path, p256dh, auth: keys.auth.toString('base64url') };
  }

  /** Returns all that has arrived for a subscription, oldest first. */
  receivedBy({ endpoint }: Subscription): Pushed[] {
    const { pathname } = new URL(endpoint);
    const keys = this.browsers.get(pathname)!;
    return this.receiver.requests
      .filter(({ method, path }) => method === 'POST' && path === pathname)
      .map(({ path, headers, body }) => ({ path, headers, content: JSON.parse(decrypt(keys, body)) }));
  }

  /** Returns the claims of a request's signature, after it was checked with the key of the subscription. */
  async claimsOf({ headers }: Pushed, publicKey: string): Promise<Record<string, unknown>> {
    const [, token, key] = /^vapid t=([^,]+), k=(\S+)$/.exec(headers.authorization!)!;
    if (key !== publicKey) throw new Error('Another key has signed');
    const point = Buffer.from(publicKey, 'base64url');
    const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString('base64url'));
    const { payload } = await jwtVerify(token!, await importJWK({ kty: 'EC', crv: 'P-256', x, y }, 'ES256'));
    return payload;
  }
}

/** Decrypts a body of one record in aes128gcm (RFC 8188), with the keys of RFC 8291. */
function decrypt({ pair, auth }: BrowserKeys, body: Buffer): string {
  const salt = body.subarray(0, 16);
  const idLength = body.readUInt8(20);
  const sender = body.subarray(21, 21 + idLength);
  const sealed = body.subarray(21 + idLength);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), pair.getPublicKey(), sender]);
  const input = Buffer.from(hkdfSync('sha256', pair.computeSecret(sender), auth, info, 32));
  const key = Buffer.from(hkdfSync('sha256', input, salt, 'Content-Encoding: aes128gcm\0', 16));
  const nonce = Buffer.from(hkdfSync('sha256', input, salt, 'Content-Encoding: nonce\0', 12));
  const decipher = createDecipheriv('aes-128-gcm', key, nonce).setAuthTag(sealed.subarray(-16));
  const padded = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
  // The last record's text ends with a byte 2, and zeros for padding.
  return padded.subarray(0, padded.lastIndexOf(2)).toString('utf8');
}
