import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config';

const KEY_BYTES = 32;
/** Label from which a separate signing key is derived, so that the key is used for no other purpose. */
const KEY_PURPOSE = 'widget previews';
const LIFETIME_MS = 60 * 60 * 1000;
const TOKEN = /^(\d{13})\.([\w-]{43})$/;

type PreviewedWidget = { tenantId: string; id: string };

/**
 * Issues and verifies tokens for the dashboard's preview of a widget. The preview is a sandboxed page, which
 * has no origin that could be allowed. The first configured key signs; all configured keys verify.
 */
@Injectable()
export class PreviewTokens {
  private readonly keys: Uint8Array[];

  constructor({ secretsKeys }: Config) {
    this.keys = secretsKeys.map(
      ({ key }) => new Uint8Array(hkdfSync('sha256', key, '', KEY_PURPOSE, KEY_BYTES)),
    );
  }

  /**
   * Issues a token that is valid for an hour.
   *
   * @param now milliseconds since 1970
   */
  issue(widget: PreviewedWidget, now = Date.now()): string {
    const expiresAt = String(now + LIFETIME_MS);
    return `${expiresAt}.${sign(this.keys[0]!, widget, expiresAt).toString('base64url')}`;
  }

  /** Reports whether a token was issued for this widget and has not expired. */
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
