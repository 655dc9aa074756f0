import { createHmac } from 'node:crypto';
import { SimulatedCall, ProviderResponse, ProviderSimulator, Trouble } from './provider-simulator';

/** Hook of an app at Meta: there is one per app, for the events of all accounts. */
export interface MetaHook {
  url: string;
  appSecret: string;
}

/** Simulates errors, tokens, handshakes and signatures, which are common to all Graph APIs. */
export abstract class MetaSimulator extends ProviderSimulator {
  readonly revokedTokens = new Set<string>();

  /** Refuses a call with one of Meta's codes. */
  static refusal(code: number, message: string, more: { subcode?: number; status?: number } = {}): Trouble {
    return { kind: 'refusal', response: graphError(code, message, more) };
  }

  /** Verifies a hook: it must return the challenge. Returns its response. */
  async handshake(url: string, verifyToken: string, challenge = '1158201444') {
    const { pathname, origin } = new URL(url);
    const query = new URLSearchParams({
      'hub.mode': 'subscribe',
      'hub.verify_token': verifyToken,
      'hub.challenge': challenge,
    });
    const response = await fetch(`${this.hookOrigin ?? origin}${pathname}?${query.toString()}`);
    return { status: response.status, body: await response.text() };
  }

  /** Signs a notification and sends it to a hook. Meta repeats one whose response was lost. */
  notify({ url, appSecret }: MetaHook, notification: object): Promise<number> {
    // Meta escapes non-ASCII characters before it signs.
    const body = JSON.stringify(notification).replace(
      /[\u0080-\uffff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    return this.notifyRaw(url, body, MetaSimulator.signature(appSecret, body));
  }

  /** Sends a body with any signature, or none. */
  notifyRaw(url: string, body: string, signature: string | null): Promise<number> {
    return this.callHook(url, body, signature === null ? {} : { 'x-hub-signature-256': signature });
  }

  static signature(appSecret: string, body: string): string {
    return `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`;
  }

  /** Returns the refusal of a call whose token is missing or revoked, or null. */
  protected tokenFault({ headers, query }: SimulatedCall): ProviderResponse | null {
    const token = headers.authorization?.replace(/^Bearer /, '') ?? query.access_token;
    if (!token)
      return graphError(104, 'An access token is required to request this resource.', { status: 401 });
    if (!this.revokedTokens.has(token)) return null;
    const message = 'Error validating access token: The session has been invalidated.';
    return graphError(190, message, { status: 401 });
  }
}

export function graphError(
  code: number,
  message: string,
  { subcode, status = 400, details }: { subcode?: number; status?: number; details?: string } = {},
): ProviderResponse {
  const error = {
    message: `(#${code}) ${message}`,
    type: 'OAuthException',
    code,
    ...(subcode !== undefined && { error_subcode: subcode }),
    ...(details !== undefined && { error_data: { messaging_product: 'whatsapp', details } }),
    fbtrace_id: 'Az8or2yhqkZfEZ-_4Qn_Bam',
  };
  return { status, body: { error } };
}
