import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { Origin } from '../access/principal';
import { validate } from '../common/validate';
import { InvitationAcceptance } from './invitations/invitation-acceptance';
import { InvitationLink, InvitationUse } from './invitations/invitation-use';
import { AcceptLink, linkGone, LinkOutcome, LoginLink } from './links/link.dto';
import { LoginsService } from './logins.service';
import { PasswordsService, ResetLink } from './passwords/passwords.service';
import { GuessLimits } from './people/guess-limits';
import { holderOf } from './sessions/session.dto';

/** Describes and accepts the links of invitations and of password resets. */
@Injectable()
export class LinksService {
  constructor(
    private readonly invitations: InvitationUse,
    private readonly acceptance: InvitationAcceptance,
    private readonly passwords: PasswordsService,
    private readonly logins: LoginsService,
    private readonly limits: GuessLimits,
  ) {}

  /**
   * Describes the link with this token. It does not use the link up.
   * @throws AppError NOT_FOUND: the link was used, replaced or taken back, or has expired; RATE_LIMITED
   */
  async describe(token: string, origin?: Origin): Promise<LoginLink> {
    const link = await this.find(token, origin);
    if (link.kind === 'reset') {
      const { email } = link.person;
      const nothing = { workspaceName: null, agentName: null };
      return { kind: 'reset', email, ...nothing, needsPassword: true, needsLogin: false };
    }
    const { needsLogin, needsPassword, invitation } = link;
    const { email, workspaceName, agentName } = invitation;
    return { kind: 'invitation', email, workspaceName, agentName, needsPassword, needsLogin };
  }

  /**
   * Accepts the link with this token.
   *
   * An invitation for an e-mail address without a login makes a login and opens a session. For an address
   * that has a login, the caller's session must belong to that login, which then gets the workspace. That
   * session goes on under a new token; the person's other sessions and all links that reset the password end.
   * If this service sends no mails, the person also sets a new password, because another person was shown the
   * login's first link.
   *
   * A reset sets the password and ends all sessions of the person, who then logs in. A second factor stays.
   * @throws AppError NOT_FOUND: the link was used, replaced or taken back, or has expired; INVALID_BODY: a
   *   bad password or the present one, or the login has 100 workspaces; UNAUTHENTICATED: the link needs a
   *   login, and no session was given, or it has ended; FORBIDDEN: the session is of another e-mail address;
   *   RATE_LIMITED, UNAVAILABLE
   */
  async accept(token: string, input: AcceptLink, origin?: Origin): Promise<LinkOutcome> {
    const given = validate(AcceptLink, input);
    const link = await this.find(token, origin);
    if (link.kind === 'reset') return this.passwords.acceptReset(link, given.password, origin);
    if (!link.needsLogin) return this.acceptance.makeLogin(link, given, origin);
    const opened = given.sessionToken ? await this.logins.authenticate(given.sessionToken) : null;
    if (!opened) throw AppError.because('UNAUTHENTICATED', 'log_in_for_link');
    return this.acceptance.join(link, holderOf(opened, origin), given.password);
  }

  private async find(token: string, origin: Origin | undefined): Promise<InvitationLink | ResetLink> {
    await this.limits.countCall(origin);
    const link = (await this.invitations.find(token)) ?? (await this.passwords.findReset(token));
    if (!link) throw linkGone();
    return link;
  }
}
