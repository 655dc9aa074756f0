import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { RateLimit, RateLimiter } from '../../http/limits/rate-limiter';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Limits of mails about answers: of all workspaces to one address, and of one workspace. */
const TO_ADDRESS: RateLimit = { max: 10, windowMs: DAY_MS, excess: 'Too many mails to this address.' };
const OF_WORKSPACE: RateLimit = { max: 500, windowMs: HOUR_MS, excess: 'Too many mails of this workspace.' };

/** Limits the mails that go to visitors, whatever addresses they give. */
@Injectable()
export class AnswerLimits {
  constructor(private readonly limiter: RateLimiter) {}

  /** Counts a mail. Returns false above a limit: then no mail may be sent. */
  async countMail(tenantId: string, email: string): Promise<boolean> {
    try {
      await this.limiter.countCall(`answer-mails-to:${addressKey(email)}`, TO_ADDRESS);
      await this.limiter.countCall(`answer-mails-of:${tenantId}`, OF_WORKSPACE);
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
