import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { networkOf } from '../http/client-network';
import { Origin } from '../common/principal';
import { RateLimit, RateLimiter } from '../rate-limit/rate-limiter';
import { keyOfEmail } from './people.repository';

const QUARTER_HOUR_MS = 15 * 60_000;
const HOUR_MS = 60 * 60_000;

/** Whatever they are: before anything is asked of the database. */
const CALLS: RateLimit = { max: 300, excess: 'Too many logins from this network.' };
const BY_NETWORK: RateLimit = {
  max: 30,
  windowMs: QUARTER_HOUR_MS,
  excess: 'Too many failed logins from this network.',
};
const BY_ACCOUNT: RateLimit = { max: 10, windowMs: QUARTER_HOUR_MS, excess: 'Too many failed logins.' };
const BY_BROWSER: RateLimit = { ...BY_ACCOUNT, excess: 'Too many failed logins from this browser.' };
const CODES: RateLimit = { max: 10, windowMs: HOUR_MS, excess: 'Too many wrong codes.' };
const OWN_PASSWORD: RateLimit = { max: 10, windowMs: QUARTER_HOUR_MS, excess: 'Too many wrong passwords.' };
const RESETS_BY_NETWORK: RateLimit = {
  max: 20,
  windowMs: HOUR_MS,
  excess: 'Too many resets from this network.',
};
const RESETS_OF_ACCOUNT: RateLimit = {
  max: 5,
  windowMs: HOUR_MS,
  excess: 'Too many resets of this password.',
};
const LINKS_OF_WORKSPACE: RateLimit = {
  max: 30,
  excess: 'Too many invitations and resets of this workspace.',
};

/** Takes the calls back that were counted, because it was no guess. */
export type NoGuess = () => Promise<void>;

/**
 * Limits guesses. Calls count before they are looked at, so that many at once are no way around, and are taken back when they
 * were right. A browser that has logged in before has a count of its own: whoever guesses elsewhere can't lock it out.
 */
@Injectable()
export class GuessLimits {
  constructor(private readonly limiter: RateLimiter) {}

  /** Of any kind that a stranger may do. */
  async call(origin: Origin | undefined): Promise<void> {
    await this.limiter.take(`login-calls:${networkKey(origin)}`, CALLS);
  }

  /** @param browserId of a browser that has logged in to this account before */
  async password(email: string, browserId: string | null, origin: Origin | undefined): Promise<NoGuess> {
    if (browserId) return this.take([`login-browser:${browserId}`, BY_BROWSER]);
    return this.take(
      [`login-network:${networkKey(origin)}`, BY_NETWORK],
      [`login-account:${keyOf(email)}`, BY_ACCOUNT],
    );
  }

  code(personId: string, browserId: string | null): Promise<NoGuess> {
    return this.take([`login-code:${browserId ?? personId}`, CODES]);
  }

  /** Of somebody who is logged in, and is asked for it again. */
  ownPassword(sessionId: string): Promise<NoGuess> {
    return this.take([`own-password:${sessionId}`, OWN_PASSWORD]);
  }

  async reset(email: string, origin: Origin | undefined): Promise<void> {
    await this.limiter.take(`reset-network:${networkKey(origin)}`, RESETS_BY_NETWORK);
    await this.limiter.take(`reset-account:${keyOf(email)}`, RESETS_OF_ACCOUNT);
  }

  async linkOf(tenantId: string): Promise<void> {
    await this.limiter.take(`login-links:${tenantId}`, LINKS_OF_WORKSPACE);
  }

  private async take(...limits: [key: string, limit: RateLimit][]): Promise<NoGuess> {
    for (const [key, limit] of limits) await this.limiter.take(key, limit);
    return async () => {
      for (const [key] of limits) await this.limiter.giveBack(key);
    };
  }
}

function networkKey(origin: Origin | undefined): string {
  return origin?.address === undefined ? 'unknown' : networkOf(origin.address);
}

/** Redis gets no e-mail address, and no endless key. */
function keyOf(email: string): string {
  return createHash('sha256').update(keyOfEmail(email)).digest('base64url');
}
