import { Injectable } from '@nestjs/common';
import type { CookieOptions, Request, Response } from 'express';
import { DashboardConfig } from '../config/dashboard-config';

/**
 * Names of the dashboard's cookies.
 * - `session`: opens a session.
 * - `login`: between the password and the code of the second factor.
 * - `browser`: names a browser that has logged in before, so that guesses made elsewhere do not lock its
 *   person out.
 */
type CookieName = 'session' | 'login' | 'browser';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/**
 * Lives of the cookies in milliseconds: at most as long as the service keeps the session, login or browser
 * that a cookie names.
 */
const LIFE_MS: Record<CookieName, number> = {
  session: 30 * DAY_MS,
  login: 5 * MINUTE_MS,
  browser: 180 * DAY_MS,
};

/**
 * Reads and sets the dashboard's cookies. No script reads them, no other site's form sends them, and no other
 * host can set them.
 */
@Injectable()
export class Cookies {
  constructor(private readonly config: DashboardConfig) {}

  read({ headers }: Pick<Request, 'headers'>, name: CookieName): string | undefined {
    const start = `${this.nameOf(name)}=`;
    const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
    return pairs.find((pair) => pair.startsWith(start))?.slice(start.length);
  }

  set(response: Response, name: CookieName, value: string): void {
    response.cookie(this.nameOf(name), value, { ...this.options, maxAge: LIFE_MS[name] });
  }

  clear(response: Response, name: CookieName): void {
    response.clearCookie(this.nameOf(name), this.options);
  }

  /**
   * Returns the cookie's full name. Over https it has a prefix that makes browsers refuse the cookie without
   * `Secure` or from another host; over plain http browsers refuse the prefix.
   */
  private nameOf(name: CookieName): string {
    return this.config.isSecure ? `__Host-${name}` : name;
  }

  private get options(): CookieOptions {
    return { httpOnly: true, secure: this.config.isSecure, sameSite: 'lax', path: '/' };
  }
}
