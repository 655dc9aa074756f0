import { createHmac, randomBytes } from 'node:crypto';
import { HookRequest } from './channel-adapter';
import { isSameSecret } from './constant-time';

const SIGNATURE_HEADER = 'x-hub-signature-256';

/** The token that Meta repeats when an app's owner sets a hook: the one given, the one there is, or else a new one. */
export function verifyTokenOf(given: string | undefined, previous?: { verifyToken: string }): string {
  return given ?? previous?.verifyToken ?? randomBytes(24).toString('base64url');
}

/**
 * Whether the app with one of these secrets has signed the request's very bytes. The older signature beside it,
 * `X-Hub-Signature` with SHA-1, counts for nothing.
 */
export function isSignedBy({ headers, rawBody }: HookRequest, ...appSecrets: string[]): boolean {
  const given = headers[SIGNATURE_HEADER];
  if (typeof given !== 'string') return false;
  return appSecrets.some((secret) => isSameSecret(given, signatureOf(secret, rawBody)));
}

/** What Meta wants to read before it takes an address for a hook: its challenge, from whoever knows the token. */
export function answerHandshake(verifyToken: string, query: Record<string, unknown>): string | null {
  const { 'hub.mode': mode, 'hub.verify_token': token, 'hub.challenge': challenge } = query;
  if (mode !== 'subscribe' || typeof token !== 'string' || typeof challenge !== 'string') return null;
  return isSameSecret(token, verifyToken) ? challenge : null;
}

function signatureOf(appSecret: string, rawBody: Buffer): string {
  return `sha256=${createHmac('sha256', appSecret).update(rawBody).digest('hex')}`;
}
