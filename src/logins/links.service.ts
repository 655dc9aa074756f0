import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { Origin } from '../common/principal';
import { validate } from '../common/validate';
import { InvitationAcceptance, InvitationLink } from './invitations/invitation-acceptance';
import { AcceptLink, linkGone, LinkOutcome, LoginLink } from './links/link.dto';
import { LoginsService } from './logins.service';
import { ResetAcceptance, ResetLink } from './passwords/reset-acceptance';
import { GuessLimits } from './people/guess-limits';
import { holderOf } from './sessions/session.dto';

/** Describes and accepts the links of invitations and of password resets. */
@Injectable()
export class LinksService {
  constructor(
    private readonly invitations: InvitationAcceptance,
    private readonly resets: ResetAcceptance,
    private readonly logins: LoginsService,
    private readonly limits: GuessLimits,
  ) {}

  /**
   * Describes the link with this token, and leaves it unused.
   * @throws AppError NOT_FOUND: the link was used, replaced or taken back, or has expired; RATE_LIMITED
   */
  async describe(token: string, origin?: Origin): Promise<LoginLink> {
    const link = await this.find(token, origin);
    if (link.kind === 'reset') {
      const { email } = link.person;
      return { kind: 'reset', email, workspaceName: null, needsPassword: true, needsLogin: false };
    }
    const { needsLogin, invitation } = link;
    const { email, workspaceName } = invitation;
    return { kind: 'invitation', email, workspaceName, needsPassword: !needsLogin, needsLogin };
  }

  /**
   * Accepts the link with this token. An invitation for an e-mail address without a login makes a login and
   * opens a session. For an address that has a login, it adds the workspace to the login of the session,
   * which must be of that address; the person's other sessions end, and so do links that reset the password.
   * A reset sets the password and ends all sessions of the person, who then logs in; a second factor stays.
   * @throws AppError NOT_FOUND: the link was used, replaced or taken back, or has expired; INVALID_BODY: a
   *   bad password, or the login has 100 workspaces; UNAUTHENTICATED: the link needs a login, and no session
   *   was given, or it has ended; FORBIDDEN: the session is of another e-mail address; RATE_LIMITED,
   *   UNAVAILABLE
   */
  async accept(token: string, input: AcceptLink, origin?: Origin): Promise<LinkOutcome> {
    const given = validate(AcceptLink, input);
    const link = await this.find(token, origin);
    if (link.kind === 'reset') return this.resets.accept(link, given.password, origin);
    if (!link.needsLogin) return this.invitations.begin(link, given, origin);
    const opened = given.sessionToken ? await this.logins.authenticate(given.sessionToken) : null;
    if (!opened) throw new AppError('UNAUTHENTICATED', 'Log in first, then open the link again.');
    return this.invitations.join(link, holderOf(opened, origin));
  }

  private async find(token: string, origin: Origin | undefined): Promise<InvitationLink | ResetLink> {
    await this.limits.countCall(origin);
    const link = (await this.invitations.find(token)) ?? (await this.resets.find(token));
    if (!link) throw linkGone();
    return link;
  }
}
