import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config';

const KEY_BYTES = 32;
/** Name from which the key of preview tokens is derived, so that no other signed data is valid as one. */
const KEY_PURPOSE = 'widget previews';
const LIFETIME_MS = 60 * 60 * 1000;
const TOKEN = /^(\d{13})\.([\w-]{43})$/;

type PreviewedWidget = { tenantId: string; id: string };

/**
 * Issues and verifies tokens for the dashboard's preview of a widget, which is a sandboxed page without an
 * origin. Signs with the first configured key, and accepts signatures by any configured key.
 */
@Injectable()
export class PreviewTokens {
  private readonly keys: Uint8Array[];

  constructor({ secretsKeys }: Config) {
    this.keys = secretsKeys.map(
      ({ key }) => new Uint8Array(hkdfSync('sha256', key, '', KEY_PURPOSE, KEY_BYTES)),
    );
  }

  issue(widget: PreviewedWidget, now = Date.now()): string {
    const expiresAt = String(now + LIFETIME_MS);
    return `${expiresAt}.${sign(this.keys[0]!, widget, expiresAt).toString('base64url')}`;
  }

  verify(widget: PreviewedWidget, token: unknown): boolean {
    const [, expiresAt, signature] = (typeof token === 'string' && TOKEN.exec(token)) || [];
    if (!expiresAt || Number(expiresAt) < Date.now()) return false;
    const given = Buffer.from(signature!, 'base64url');
    return this.keys.some((key) => timingSafeEqual(sign(key, widget, expiresAt), given));
  }
}

function sign(key: Uint8Array, { tenantId, id }: PreviewedWidget, expiresAt: string): Buffer {
  return createHmac('sha256', key).update(`${tenantId} ${id} ${expiresAt}`).digest();
}
