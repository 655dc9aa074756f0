import { Injectable } from '@nestjs/common';
import { type Actor, AppError, type Origin } from 'conversation-messaging-service';
import {
  holderOf,
  type LoggedIn,
  LoginsService,
  PasswordsService,
  type SecondFactorRequired,
} from 'conversation-messaging-service/logins';

@Injectable()
export class ComingIn {
  constructor(
    private readonly logins: LoginsService,
    private readonly passwords: PasswordsService,
  ) {}

  /** Logs a person in. Keep `token` and `browserToken`, or `pendingToken`, in cookies. */
  logIn(
    email: string,
    password: string,
    browserToken: string | undefined,
    origin: Origin,
  ): Promise<LoggedIn | SecondFactorRequired> {
    return this.logins.logIn({ email, password, browserToken }, origin);
  }

  /** Returns who sends a request, as the actor of changes in the workspace. Call it on every request. */
  async actorIn(workspaceId: string, token: string, origin: Origin): Promise<Actor> {
    const opened = await this.logins.authenticate(token);
    if (!opened) throw new AppError('UNAUTHENTICATED', 'Log in.');
    const membership = opened.memberships.find(({ workspace }) => workspace.id === workspaceId);
    if (!membership) throw AppError.notFound('Workspace');
    return { type: 'agent', id: membership.agentId, origin };
  }

  /**
   * Changes the password. Set the cookie of the session again: its token is new, and all other sessions have
   * ended.
   */
  async changePassword(
    token: string,
    currentPassword: string,
    newPassword: string,
    origin: Origin,
  ): Promise<string> {
    const opened = await this.logins.authenticate(token);
    if (!opened) throw new AppError('UNAUTHENTICATED', 'Log in.');
    const holder = holderOf(opened, origin);
    const renewed = await this.passwords.change(holder, { currentPassword, newPassword });
    return renewed.token;
  }
}
