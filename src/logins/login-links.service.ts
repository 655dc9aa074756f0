import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { Origin } from '../common/principal';
import { GuessLimits } from './guess-limits';
import { InvitationsRepository } from './invitations.repository';
import { LoginLink } from './login.dto';
import { hashOf, invitationKeyOf } from './login-tokens';
import { PeopleRepository } from './people.repository';
import { ResetTokens } from './reset-tokens';

/** Tells the holder of a link what it is for. */
@Injectable()
export class LoginLinksService {
  constructor(
    private readonly invitations: InvitationsRepository,
    private readonly people: PeopleRepository,
    private readonly resets: ResetTokens,
    private readonly limits: GuessLimits,
  ) {}

  /**
   * What an invitation's or a reset's token is for; it uses nothing up. `AcceptancesService.accept` and `join`, and
   * `PasswordResetsService.reset` do.
   * @throws AppError NOT_FOUND: the link was used, replaced or taken back, or has expired; RATE_LIMITED
   */
  async describe(token: string, origin?: Origin): Promise<LoginLink> {
    await this.limits.call(origin);
    const link = (await this.invitation(token)) ?? (await this.reset(token));
    if (!link) throw new AppError('NOT_FOUND', 'This link was used, replaced or taken back, or has expired.');
    return link;
  }

  private async invitation(token: string): Promise<LoginLink | null> {
    const key = invitationKeyOf(token);
    const invitation = key && (await this.invitations.find(key));
    if (!invitation) return null;
    const { email, workspaceName } = invitation;
    const needsLogin = (await this.people.findByEmail(email)) !== null;
    return { kind: 'invitation', email, workspaceName, needsPassword: !needsLogin, needsLogin };
  }

  private async reset(token: string): Promise<LoginLink | null> {
    const hash = hashOf(token);
    const person = hash && (await this.resets.find(hash));
    if (!person) return null;
    return {
      kind: 'reset',
      email: person.email,
      workspaceName: null,
      needsPassword: true,
      needsLogin: false,
    };
  }
}
