import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { Origin } from '../common/principal';
import { validate } from '../common/validate';
import { GuessLimits } from './guess-limits';
import { RequestPasswordReset, ResetPassword } from './login.dto';
import { LoginAudit } from './login-audit';
import { LoginLinks } from './login-links';
import { hashOf } from './login-tokens';
import { PasswordHasher } from './password-hasher';
import { requireGoodPassword } from './password-policy';
import { PeopleRepository } from './people.repository';
import { ResetTokens } from './reset-tokens';

/** Sets new passwords for people who can't log in. `AgentPasswordsService` is for their managers. */
@Injectable()
export class PasswordResetsService {
  constructor(
    private readonly people: PeopleRepository,
    private readonly tokens: ResetTokens,
    private readonly hasher: PasswordHasher,
    private readonly links: LoginLinks,
    private readonly limits: GuessLimits,
    private readonly audit: LoginAudit,
  ) {}

  /**
   * Mails a link to the person of this e-mail address. The answer is the same, and takes the same time, if there is none. The
   * mail goes in the background; one that was not sent is in the log.
   * @throws AppError INVALID_BODY, RATE_LIMITED; FORBIDDEN: this service sends no mail, so a manager or the operator makes the
   * link
   */
  async request(input: RequestPasswordReset, origin?: Origin): Promise<void> {
    const { email } = validate(RequestPasswordReset, input);
    if (!this.links.areMailed)
      throw new AppError(
        'FORBIDDEN',
        'This service sends no mail: ask who manages your workspace for a link.',
      );
    await this.limits.reset(email, origin);
    const person = await this.people.findByEmail(email);
    await this.audit.count(person?.id ?? null, 'password_reset_requested', origin);
    if (person)
      this.links.sendResetInBackground(person, async () => (await this.tokens.make(person.id)).token);
  }

  /**
   * Sets the password by a link, and ends all sessions of the person. A second factor stays; then they log in.
   * @throws AppError NOT_FOUND: the link was used, or has expired; INVALID_BODY: a bad password; RATE_LIMITED, UNAVAILABLE
   */
  async reset(token: string, input: ResetPassword, origin?: Origin): Promise<void> {
    const { password } = validate(ResetPassword, input);
    await this.limits.call(origin);
    const hash = hashOf(token);
    const person = hash && (await this.tokens.find(hash));
    if (!person) throw gone();
    requireGoodPassword(password, person.email, 'password');
    const passwordHash = await this.hasher.hash(password, origin);
    if (!(await this.tokens.use(hash, person.id, passwordHash, origin))) throw gone();
  }
}

function gone(): AppError {
  return new AppError('NOT_FOUND', 'This link was used, or has expired.');
}
