import { Injectable } from '@nestjs/common';
import { Origin } from '../common/principal';
import { validate } from '../common/validate';
import { Database } from '../database/database';
import { ConfirmSecondFactor, LoggedIn, LogIn, SecondFactorRequired } from './login.dto';
import { hashOf } from './login-tokens';
import { PasswordCheck, requireSamePassword } from './password-check';
import { PeopleRepository } from './people.repository';
import { SecondStep } from './second-step';
import { SessionOpener } from './session-opener';

/** Logs people in. `LoginSessionsService` knows who is, and logs them out. */
@Injectable()
export class LoginsService {
  constructor(
    private readonly database: Database,
    private readonly check: PasswordCheck,
    private readonly people: PeopleRepository,
    private readonly secondStep: SecondStep,
    private readonly opener: SessionOpener,
  ) {}

  /**
   * Logs in with a password. A person with a second factor gets a pending login, which opens nothing.
   * @param origin its `address` is what guesses are limited by
   * @throws AppError UNAUTHENTICATED, the same for an unknown address as for a wrong password; RATE_LIMITED with
   * `retryAfterSeconds`; UNAVAILABLE; INVALID_BODY
   */
  async logIn(input: LogIn, origin?: Origin): Promise<LoggedIn | SecondFactorRequired> {
    const { email, password, browserToken } = validate(LogIn, input);
    const checked = await this.check.ofLogin({ email, password }, hashOf(browserToken), origin);
    return this.database.transaction(async (tx) => {
      const { id: personId, hasSecondFactor } = requireSamePassword(
        checked,
        await this.people.lock(tx, checked.id),
      );
      if (hasSecondFactor) return this.secondStep.begin(tx, { personId, browserId: checked.browserId });
      return this.opener.open(tx, personId, browserToken, origin);
    });
  }

  /**
   * Finishes a pending login with a code of the app or a recovery code. Each is good once.
   * @throws AppError UNAUTHENTICATED: the code is wrong, or the pending login has expired or had five codes; RATE_LIMITED,
   * INVALID_BODY
   */
  async confirmSecondFactor(input: ConfirmSecondFactor, origin?: Origin): Promise<LoggedIn> {
    const { browserToken, ...given } = validate(ConfirmSecondFactor, input);
    const attempt = await this.secondStep.attempt(given.pendingToken, origin);
    const loggedIn = await this.database.transaction(async (tx) => {
      await this.people.lock(tx, attempt.personId);
      if (!(await this.secondStep.finish(tx, attempt, given, origin))) return null;
      return this.opener.open(tx, attempt.personId, browserToken, origin);
    });
    if (!loggedIn) throw await this.secondStep.refuse(attempt, origin);
    await attempt.noGuess();
    return loggedIn;
  }
}
