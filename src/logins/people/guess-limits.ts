import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { makeReason, ReasonCode } from '../../common/error-texts';
import { limitedNetworksOf } from '../../http/connections/client-network';
import { Origin } from '../../access/principal';
import { RateLimit, RateLimiter } from '../../http/limits/rate-limiter';
import { normalizeEmail } from './people.repository';

const MINUTE_MS = 60_000;
const QUARTER_HOUR_MS = 15 * MINUTE_MS;
const HOUR_MS = 60 * MINUTE_MS;

const limitTo = (max: number, windowMs: number, excess: ReasonCode & `too_many_${string}`): RateLimit => ({
  max,
  windowMs,
  excess: makeReason(excess),
});

const CALLS = limitTo(300, MINUTE_MS, 'too_many_logins_of_network');
const BY_NETWORK = limitTo(30, QUARTER_HOUR_MS, 'too_many_failed_logins_of_network');
const BY_ACCOUNT = limitTo(10, QUARTER_HOUR_MS, 'too_many_failed_logins');
const BY_BROWSER = limitTo(10, QUARTER_HOUR_MS, 'too_many_failed_logins_of_browser');
const CODES = limitTo(10, HOUR_MS, 'too_many_wrong_codes');
const OWN_PASSWORD = limitTo(10, QUARTER_HOUR_MS, 'too_many_wrong_passwords');
const RESETS_BY_NETWORK = limitTo(20, HOUR_MS, 'too_many_resets_of_network');
const RESETS_OF_ACCOUNT = limitTo(5, HOUR_MS, 'too_many_resets');
const LINKS_OF_WORKSPACE = limitTo(30, MINUTE_MS, 'too_many_links');
const LINKS_TO_ADDRESS = limitTo(5, HOUR_MS, 'too_many_links_to_address');
/** Limit of links to one address from all workspaces together. The limit of one workspace is lower. */
const LINKS_TO_ADDRESS_OF_ALL: RateLimit = { ...LINKS_TO_ADDRESS, max: 20 };

type KeyedLimit = [key: string, limit: RateLimit];

/** Subtracts a guess that was counted, because it was right. */
export type NoGuess = () => Promise<void>;

/**
 * Limits guesses of passwords and codes. A guess is counted before it is checked, so that many guesses at
 * once can't pass the limit; a right guess is then subtracted. A browser in which the person has logged in
 * before has its own count, so that guesses made elsewhere can't lock it out. Above a limit, every method
 * throws AppError RATE_LIMITED.
 */
@Injectable()
export class GuessLimits {
  constructor(private readonly limiter: RateLimiter) {}

  /** Counts a call that needs no login, by the client's network. Call it before the database is read. */
  async countCall(origin: Origin | undefined): Promise<void> {
    await this.count(...networkLimits('login-calls', CALLS, origin));
  }

  /**
   * Counts the check of a password.
   * @param browserId id of a browser that has logged in to this account before; null for any other browser
   */
  async countPassword(email: string, browserId: string | null, origin: Origin | undefined): Promise<NoGuess> {
    if (browserId) return this.count([`login-browser:${browserId}`, BY_BROWSER]);
    return this.count(...networkLimits('login-network', BY_NETWORK, origin), [
      `login-account:${accountKey(email)}`,
      BY_ACCOUNT,
    ]);
  }

  /**
   * Counts the check of a code.
   * @param id id of the session of a logged-in person; without a session, of the known browser or the person
   */
  countCode(id: string): Promise<NoGuess> {
    return this.count([`login-code:${id}`, CODES]);
  }

  /** Counts the check of a password that a logged-in person types again. */
  countOwnPassword(sessionId: string): Promise<NoGuess> {
    return this.count([`own-password:${sessionId}`, OWN_PASSWORD]);
  }

  async countReset(email: string, origin: Origin | undefined): Promise<void> {
    await this.count(...networkLimits('reset-network', RESETS_BY_NETWORK, origin), [
      `reset-account:${accountKey(email)}`,
      RESETS_OF_ACCOUNT,
    ]);
  }

  async countLink(tenantId: string): Promise<void> {
    await this.limiter.countCall(`login-links:${tenantId}`, LINKS_OF_WORKSPACE);
  }

  async countMailedLink(tenantId: string, email: string): Promise<void> {
    const address = accountKey(email);
    await this.limiter.countCall(`mailed-links:${tenantId}:${address}`, LINKS_TO_ADDRESS);
    await this.limiter.countCall(`mailed-links:${address}`, LINKS_TO_ADDRESS_OF_ALL);
  }

  private async count(...limits: KeyedLimit[]): Promise<NoGuess> {
    for (const [key, limit] of limits) await this.limiter.countCall(key, limit);
    return async () => {
      for (const [key] of limits) await this.limiter.giveBack(key);
    };
  }
}

function networkLimits(name: string, limit: RateLimit, origin: Origin | undefined): KeyedLimit[] {
  const networks = limitedNetworksOf(origin?.address ?? 'unknown', limit.max);
  return networks.map(([network, max]) => [`${name}:${network}`, { ...limit, max }]);
}

/** Returns a hash of an e-mail address, so that Redis stores no address. */
function accountKey(email: string): string {
  return createHash('sha256').update(normalizeEmail(email)).digest('base64url');
}
