import { createHmac, randomBytes } from 'node:crypto';
import { HookRequest } from '../channel-adapter';
import { isSameSecret } from '../support/constant-time';

const SIGNATURE_HEADER = 'x-hub-signature-256';

/**
 * Chooses the token that Meta returns when it verifies a hook's address: the given one, or the previous one
 * when credentials are rotated, or a random one.
 */
export function chooseVerifyToken(given: string | undefined, previous?: { verifyToken: string }): string {
  return given ?? previous?.verifyToken ?? randomBytes(24).toString('base64url');
}

/**
 * Reports whether a request's body was signed with one of the secrets. The older header `X-Hub-Signature`
 * (SHA-1) does not count.
 */
export function isSignedBy(
  { headers, rawBody }: Pick<HookRequest, 'headers' | 'rawBody'>,
  ...appSecrets: string[]
): boolean {
  const given = headers[SIGNATURE_HEADER];
  if (typeof given !== 'string') return false;
  return appSecrets.some((secret) => isSameSecret(given, signature(secret, rawBody)));
}

/**
 * Returns the challenge from Meta's query, the answer with which Meta accepts a hook's address; null for a
 * wrong verify token.
 */
export function answerHandshake(verifyToken: string, query: Record<string, unknown>): string | null {
  const { 'hub.mode': mode, 'hub.verify_token': token, 'hub.challenge': challenge } = query;
  if (mode !== 'subscribe' || typeof token !== 'string' || typeof challenge !== 'string') return null;
  return isSameSecret(token, verifyToken) ? challenge : null;
}

function signature(appSecret: string, rawBody: Buffer): string {
  return `sha256=${createHmac('sha256', appSecret).update(rawBody).digest('hex')}`;
}
