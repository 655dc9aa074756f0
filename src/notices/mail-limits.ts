import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { RateLimit, RateLimiter } from '../http/limits/rate-limiter';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Limits of a kind of mails: of all workspaces to one address in a day, and of one workspace in an hour. */
export interface MailLimit {
  kind: string;
  toAddress: number;
  ofWorkspace: number;
}

/** Limits the notices that are mailed, whatever addresses people give. */
@Injectable()
export class MailLimits {
  constructor(private readonly limiter: RateLimiter) {}

  /** Counts a mail. Returns false above a limit: then no mail may be sent. */
  async countMail(
    { kind, toAddress, ofWorkspace }: MailLimit,
    tenantId: string,
    email: string,
  ): Promise<boolean> {
    const perDay: RateLimit = {
      max: toAddress,
      windowMs: DAY_MS,
      excess: 'Too many mails to this address.',
    };
    const perHour: RateLimit = {
      max: ofWorkspace,
      windowMs: HOUR_MS,
      excess: 'Too many mails of this workspace.',
    };
    // The workspace comes first, so that one above its limit uses up no mail of others to the address.
    const ofWorkspaceKey = `${kind}-mails-of:${tenantId}`;
    if (!(await this.tryCounting(ofWorkspaceKey, perHour))) return false;
    if (await this.tryCounting(`${kind}-mails-to:${addressKey(email)}`, perDay)) return true;
    await this.limiter.giveBack(ofWorkspaceKey);
    return false;
  }

  private async tryCounting(key: string, limit: RateLimit): Promise<boolean> {
    try {
      await this.limiter.countCall(key, limit);
      return true;
    } catch (error) {
      if (error instanceof AppError && error.code === 'RATE_LIMITED') return false;
      throw error;
    }
  }
}

/** Returns a hash of an e-mail address without its tag (after `+`), so that Redis stores no address. */
function addressKey(email: string): string {
  const plain = email.toLowerCase().replace(/\+[^@]*@/, '@');
  return createHash('sha256').update(plain).digest('base64url');
}
