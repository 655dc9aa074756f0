import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DashboardConfig } from '../config/dashboard-config';

/** Milliseconds for which a link can be opened. */
const LIFE_MS = 5 * 60_000;
const KEY_BYTES = 32;
/** Name of the purpose from which the key is derived, so that this key serves nothing else. */
const KEY_PURPOSE = 'links to attachments';

/** Attachment that a link opens, for as long as one session lives. */
export interface LinkedAttachment {
  sessionId: string;
  workspaceId: string;
  attachmentId: string;
  isRendition: boolean;
  /** Whether the browser saves the file instead of showing it. */
  isSaved: boolean;
}

/**
 * Makes and reads links for the attachments' own origin, which gets no cookie. A link lasts five minutes, and
 * whoever opens it must check that its session is still there.
 */
@Injectable()
export class AttachmentLinks {
  private readonly key: Uint8Array;

  constructor(private readonly config: DashboardConfig) {
    this.key = new Uint8Array(hkdfSync('sha256', config.messaging.secretsKeys, '', KEY_PURPOSE, KEY_BYTES));
  }

  /** Returns a link to an attachment; null if the pages' own origin sends attachments. */
  make(linked: LinkedAttachment): string | null {
    const { attachmentsOrigin } = this.config;
    if (attachmentsOrigin === null) return null;
    const content = JSON.stringify({ ...linked, endsAt: Date.now() + LIFE_MS });
    const payload = Buffer.from(content).toString('base64url');
    return `${attachmentsOrigin}/attachments/${payload}.${this.sign(payload).toString('base64url')}`;
  }

  /** Returns the attachment that a link's token names; null if the link is not this server's, or expired. */
  read(token: string): LinkedAttachment | null {
    const [payload = '', signature = ''] = token.split('.');
    const given = Buffer.from(signature, 'base64url');
    const own = this.sign(payload);
    if (given.length !== own.length || !timingSafeEqual(given, own)) return null;
    const content = Buffer.from(payload, 'base64url').toString();
    const { endsAt, ...linked } = JSON.parse(content) as LinkedAttachment & { endsAt: number };
    return Date.now() < endsAt ? linked : null;
  }

  private sign(payload: string): Buffer {
    return createHmac('sha256', this.key).update(payload).digest();
  }
}
