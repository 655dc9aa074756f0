import { Injectable } from '@nestjs/common';
import { AppError, type Origin } from 'conversation-messaging-service';
import {
  AcceptancesService,
  callerOf,
  LoginLinksService,
  LoginSessionsService,
  PasswordResetsService,
} from 'conversation-messaging-service/logins';
import type { Request, Response } from 'express';
import type { AcceptedLink } from '../api';
import { Cookies } from '../http/cookies';
import type { AcceptLinkBody } from './login.dto';
import { LoginCookies } from './login-cookies';

/** One request of a browser, and its answer. */
interface Exchange {
  request: Request;
  response: Response;
  origin: Origin;
}

/** Does what a link is for: a new login, a further workspace of the person who is logged in, or a new password. */
@Injectable()
export class LinkAcceptance {
  constructor(
    private readonly links: LoginLinksService,
    private readonly acceptances: AcceptancesService,
    private readonly resets: PasswordResetsService,
    private readonly sessions: LoginSessionsService,
    private readonly cookies: Cookies,
    private readonly loginCookies: LoginCookies,
  ) {}

  async accept(body: AcceptLinkBody, exchange: Exchange): Promise<AcceptedLink> {
    const { kind, needsLogin } = await this.links.describe(body.token, exchange.origin);
    if (kind === 'reset') return this.reset(body, exchange);
    return needsLogin ? this.join(body, exchange) : this.begin(body, exchange);
  }

  private async begin(
    { token, name, password = '' }: AcceptLinkBody,
    { request, response, origin }: Exchange,
  ): Promise<AcceptedLink> {
    const browserToken = this.loginCookies.browserTokenOf(request);
    const accepted = await this.acceptances.accept(token, { name, password, browserToken }, origin);
    return this.loginCookies.keepSession(response, accepted);
  }

  private async join({ token }: AcceptLinkBody, { request, origin }: Exchange): Promise<AcceptedLink> {
    const sessionToken = this.cookies.read(request, 'session');
    const opened = sessionToken === undefined ? null : await this.sessions.authenticate(sessionToken);
    if (!opened) throw new AppError('UNAUTHENTICATED', 'Log in first, then open the link again.');
    await this.acceptances.join(token, callerOf(opened, origin));
    return { status: 'done' };
  }

  /** The second factor stays: the person logs in with the new password. */
  private async reset(
    { token, password = '' }: AcceptLinkBody,
    { response, origin }: Exchange,
  ): Promise<AcceptedLink> {
    await this.resets.reset(token, { password }, origin);
    this.loginCookies.forget(response);
    return { status: 'password_set' };
  }
}
