import { Injectable } from '@nestjs/common';
import { AppError } from 'conversation-messaging-service';
import type {
  LinkOutcome,
  LoggedIn,
  RecoveryCodes,
  RenewedSession,
  SecondFactorRequired,
} from 'conversation-messaging-service/logins';
import type { Request, Response } from 'express';
import type { AcceptedLink, Done, LoginResponse } from '../api';
import { Cookies } from '../http/cookies';

/** Stores the tokens of a login in cookies, so that no answer has one in its body. */
@Injectable()
export class LoginCookies {
  constructor(private readonly cookies: Cookies) {}

  /** Returns the token of the browser's session. */
  sessionTokenOf(request: Request): string | undefined {
    return this.cookies.read(request, 'session');
  }

  /** Returns the token that this browser got at an earlier login. */
  browserTokenOf(request: Request): string | undefined {
    return this.cookies.read(request, 'browser');
  }

  /**
   * Returns the token of a login that still needs its code.
   * @throws AppError UNAUTHENTICATED: no password was accepted in this browser, or too long ago
   */
  pendingTokenOf(request: Request): string {
    const token = this.cookies.read(request, 'login');
    if (token === undefined) throw AppError.because('UNAUTHENTICATED', 'password_first');
    return token;
  }

  keep(response: Response, outcome: LoggedIn | SecondFactorRequired): LoginResponse {
    if (outcome.status === 'logged_in') return this.keepSession(response, outcome);
    this.cookies.set(response, 'login', outcome.pendingToken);
    return { status: 'second_factor' };
  }

  keepSession(response: Response, { token, browserToken }: LoggedIn): Done {
    this.keepRenewed(response, { token });
    if (browserToken !== null) this.cookies.set(response, 'browser', browserToken);
    this.cookies.clear(response, 'login');
    return { status: 'done' };
  }

  keepAccepted(response: Response, outcome: LinkOutcome): AcceptedLink {
    if (outcome.status === 'logged_in') return this.keepSession(response, outcome);
    if (outcome.status === 'password_set') {
      this.forget(response);
      return { status: 'password_set' };
    }
    this.keepRenewed(response, outcome);
    return { status: 'done' };
  }

  keepRenewed(response: Response, { token }: RenewedSession): void {
    this.cookies.set(response, 'session', token);
  }

  keepCodes(
    response: Response,
    { recoveryCodes, ...renewed }: RecoveryCodes & RenewedSession,
  ): RecoveryCodes {
    this.keepRenewed(response, renewed);
    return { recoveryCodes };
  }

  /** Clears the session's cookies. The browser stays known. */
  forget(response: Response): void {
    this.cookies.clear(response, 'session');
  }
}
