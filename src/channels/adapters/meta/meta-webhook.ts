import { createHmac, randomBytes } from 'node:crypto';
import { HookRequest } from '../channel-adapter';
import { isSameSecret } from '../support/constant-time';

const SIGNATURE_HEADER = 'x-hub-signature-256';

/** Meta returns this token when it verifies a hook. A rotation without one keeps the previous one. */
export function verifyTokenOf(given: string | undefined, previous?: { verifyToken: string }): string {
  return given ?? previous?.verifyToken ?? randomBytes(24).toString('base64url');
}

/** Whether one of the secrets signed the raw body. Ignores the older `X-Hub-Signature`: it uses SHA-1. */
export function isSignedBy(
  { headers, rawBody }: Pick<HookRequest, 'headers' | 'rawBody'>,
  ...appSecrets: string[]
): boolean {
  const given = headers[SIGNATURE_HEADER];
  if (typeof given !== 'string') return false;
  return appSecrets.some((secret) => isSameSecret(given, signatureOf(secret, rawBody)));
}

/** Meta accepts a hook's address that returns its challenge. Null for a wrong token. */
export function answerHandshake(verifyToken: string, query: Record<string, unknown>): string | null {
  const { 'hub.mode': mode, 'hub.verify_token': token, 'hub.challenge': challenge } = query;
  if (mode !== 'subscribe' || typeof token !== 'string' || typeof challenge !== 'string') return null;
  return isSameSecret(token, verifyToken) ? challenge : null;
}

function signatureOf(appSecret: string, rawBody: Buffer): string {
  return `sha256=${createHmac('sha256', appSecret).update(rawBody).digest('hex')}`;
}
