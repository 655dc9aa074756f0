import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Config } from '../../../config/config';

const KEY_BYTES = 32;
/** Name from which the key of links is derived, so that no other signed data is valid as one. */
const KEY_PURPOSE = 'files for providers';
/** Milliseconds for which a link works. Instagram fetches a file before it answers. */
const LIFETIME_MS = 10 * 60 * 1000;
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const TOKEN = new RegExp(`^(${UUID})\\.(${UUID})\\.(\\d{13})\\.([\\w-]{43})$`);

/** File of an attachment, which a link names. */
export interface LinkedFile {
  tenantId: string;
  attachmentId: string;
}

/** Makes and reads short-lived public addresses of files, for a provider that takes no uploads. */
@Injectable()
export class FileLinks {
  private readonly keys: Uint8Array[];
  private readonly publicUrl: string;

  constructor({ secretsKeys, publicUrl }: Config) {
    this.keys = secretsKeys.map(
      ({ key }) => new Uint8Array(hkdfSync('sha256', key, '', KEY_PURPOSE, KEY_BYTES)),
    );
    this.publicUrl = publicUrl;
  }

  make({ tenantId, attachmentId }: LinkedFile, now = Date.now()): string {
    const signed = `${tenantId}.${attachmentId}.${now + LIFETIME_MS}`;
    return `${this.publicUrl}/channels/files/${signed}.${sign(this.keys[0]!, signed).toString('base64url')}`;
  }

  /** Returns the file that a link's token names; null if the token is not genuine or has expired. */
  read(token: string): LinkedFile | null {
    const [, tenantId, attachmentId, expiresAt, signature] = TOKEN.exec(token) ?? [];
    if (!tenantId || !attachmentId || Number(expiresAt) < Date.now()) return null;
    const given = Buffer.from(signature!, 'base64url');
    const signed = `${tenantId}.${attachmentId}.${expiresAt}`;
    const isGenuine = this.keys.some((key) => timingSafeEqual(sign(key, signed), given));
    return isGenuine ? { tenantId, attachmentId } : null;
  }
}

function sign(key: Uint8Array, signed: string): Buffer {
  return createHmac('sha256', key).update(signed).digest();
}
