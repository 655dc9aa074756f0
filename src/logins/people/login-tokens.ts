import { createHash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;
const ID_BYTES = 16;
/** Matches 32 bytes in base64url. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
/** Matches 48 bytes in base64url: the id of the invitation's workspace, and 32 random bytes. */
const INVITATION_TOKEN = /^[A-Za-z0-9_-]{64}$/;

/** Token of 256 random bits, for a cookie or a link. Only its hash is stored. */
export interface NewToken {
  token: string;
  hash: Buffer;
}

export interface InvitationKey {
  tenantId: string;
  hash: Buffer;
}

export function newToken(): NewToken {
  return withHash(randomBytes(TOKEN_BYTES));
}

export function newInvitationToken(tenantId: string): NewToken {
  const id = Buffer.from(tenantId.replaceAll('-', ''), 'hex');
  return withHash(Buffer.concat([id, randomBytes(TOKEN_BYTES)]));
}

/** Returns the hash of a token; null for a text without the form of a token. */
export function parseToken(text: string | undefined): Buffer | null {
  return text !== undefined && TOKEN.test(text) ? sha256(text) : null;
}

/** Returns the workspace's id and the token's hash; null for a text without the form of a token. */
export function parseInvitationToken(text: string): InvitationKey | null {
  if (!INVITATION_TOKEN.test(text)) return null;
  const hex = Buffer.from(text, 'base64url').subarray(0, ID_BYTES).toString('hex');
  const tenantId = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  return { tenantId, hash: sha256(text) };
}

function withHash(bytes: Buffer): NewToken {
  const token = bytes.toString('base64url');
  return { token, hash: sha256(token) };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
