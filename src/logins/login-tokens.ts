import { createHash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;
const ID_BYTES = 16;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
/** A workspace's id before the random part, so that the invitation is found in that workspace alone. */
const INVITATION_TOKEN = /^[A-Za-z0-9_-]{64}$/;

/** 256 random bits, for a cookie or a link. Only the hash is stored. */
export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

export function newInvitationToken(tenantId: string): string {
  const id = Buffer.from(tenantId.replaceAll('-', ''), 'hex');
  return Buffer.concat([id, randomBytes(TOKEN_BYTES)]).toString('base64url');
}

export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** @returns null for a text that can be no token */
export function hashOf(token: string | undefined): Buffer | null {
  return token !== undefined && TOKEN.test(token) ? hashToken(token) : null;
}

export interface InvitationKey {
  tenantId: string;
  hash: Buffer;
}

/** @returns null for a text that can be no invitation's token */
export function invitationKeyOf(token: string): InvitationKey | null {
  if (!INVITATION_TOKEN.test(token)) return null;
  const hex = Buffer.from(token, 'base64url').subarray(0, ID_BYTES).toString('hex');
  const tenantId = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  return { tenantId, hash: hashToken(token) };
}
