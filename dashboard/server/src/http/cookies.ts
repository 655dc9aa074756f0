import { Injectable } from '@nestjs/common';
import type { CookieOptions, Request, Response } from 'express';
import { DashboardConfig } from '../config/dashboard-config';

/**
 * Names of the dashboard's cookies.
 *
 * - `session`: token of the session.
 * - `login`: token of a login whose password was right and whose second factor is missing.
 * - `browser`: token of a browser in which the person has logged in before. Wrong passwords that are tried
 *   elsewhere do not lock this browser out.
 */
type CookieName = 'session' | 'login' | 'browser';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/**
 * Lifetimes of the cookies in milliseconds. None is longer than the service stores the session, login or
 * browser.
 */
const LIFE_MS: Record<CookieName, number> = {
  session: 30 * DAY_MS,
  login: 5 * MINUTE_MS,
  browser: 180 * DAY_MS,
};

/**
 * Reads, sets and clears the dashboard's cookies. Scripts can't read them, and forms of other sites do not
 * send them. Over https, other hosts can't set them.
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
   * Returns the cookie's full name. Over https the name has the prefix `__Host-`: browsers then refuse the
   * cookie if it lacks `Secure` or is set for another host. Over http browsers refuse every cookie with the
   * prefix.
   */
  private nameOf(name: CookieName): string {
    return this.config.isSecure ? `__Host-${name}` : name;
  }

  private get options(): CookieOptions {
    return { httpOnly: true, secure: this.config.isSecure, sameSite: 'lax', path: '/' };
  }
}
