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

/** Stores the tokens of logins and sessions in cookies, so that no script can read one in a response. */
@Injectable()
export class LoginCookies {
  constructor(private readonly cookies: Cookies) {}

  sessionTokenOf(request: Request): string | undefined {
    return this.cookies.read(request, 'session');
  }

  /** Returns the token that marks this browser as one in which a person has logged in before. */
  browserTokenOf(request: Request): string | undefined {
    return this.cookies.read(request, 'browser');
  }

  /**
   * Returns the token of a login whose password was right and whose second factor is missing.
   * @throws AppError UNAUTHENTICATED: this browser has sent no right password in the last 5 minutes
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

  /** Deletes the session's cookie. The cookie that marks the browser as known stays. */
  forget(response: Response): void {
    this.cookies.clear(response, 'session');
  }
}
