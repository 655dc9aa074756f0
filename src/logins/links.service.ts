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
   * Returns the purpose of the link with this token. The call does not use the link up.
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
   * An invitation: if its e-mail address has no login, the method makes one and opens a session. Otherwise
   * `sessionToken` must belong to the login of that address, and the workspace is added to this login. The
   * session continues under a new token. The person's other sessions and all links that reset the password
   * end. If no mail server is configured, the person must also set a new password, because the login's first
   * link was shown to another person.
   *
   * A password reset: the method sets the password and ends all sessions of the person, who then logs in. A
   * second factor stays on.
   * @throws AppError NOT_FOUND: the link was used, replaced or taken back, or has expired; INVALID_BODY: the
   *   policy refuses the new password, it equals the present one, or the login has 100 workspaces;
   *   UNAUTHENTICATED: the link needs a session, and `sessionToken` is missing or its session has ended;
   *   FORBIDDEN: the session belongs to another e-mail address; RATE_LIMITED, UNAVAILABLE
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
