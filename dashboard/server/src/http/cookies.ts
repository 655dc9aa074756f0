import { Injectable } from '@nestjs/common';
import type { CookieOptions, Request, Response } from 'express';
import { DashboardConfig } from '../config/dashboard-config';

/**
 * Cookies: `session` and `login` contain the token of a session, or of a login without its second factor.
 * `browser` marks a browser in which the person has logged in before. Wrong passwords from other browsers do
 * not lock this browser out.
 */
type CookieName = 'session' | 'login' | 'browser';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Milliseconds until a cookie expires. The server stores the session, login or browser at least as long. */
const LIFE_MS: Record<CookieName, number> = {
  session: 30 * DAY_MS,
  login: 5 * MINUTE_MS,
  browser: 180 * DAY_MS,
};

/** Reads, sets and clears cookies that scripts can't read and that forms of other sites do not send. */
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
   * Returns the cookie's full name. Over https it begins with `__Host-`, so that no other host can set it.
   * Over http it does not, because browsers would refuse the cookie.
   */
  private nameOf(name: CookieName): string {
    return this.config.isSecure ? `__Host-${name}` : name;
  }

  private get options(): CookieOptions {
    return { httpOnly: true, secure: this.config.isSecure, sameSite: 'lax', path: '/' };
  }
}
