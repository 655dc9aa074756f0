import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { Origin } from '../common/principal';
import { GuessLimits, NoGuess } from './guess-limits';
import { Caller } from './login.dto';
import { LoginAudit } from './login-audit';
import { PasswordHasher } from './password-hasher';
import { LoginCandidate, PeopleRepository, PersonRow } from './people.repository';

/** Checks passwords within the limits of guessing. */
@Injectable()
export class PasswordCheck {
  constructor(
    private readonly people: PeopleRepository,
    private readonly hasher: PasswordHasher,
    private readonly limits: GuessLimits,
    private readonly audit: LoginAudit,
  ) {}

  /**
   * For a login. Everything is asked and hashed for an unknown e-mail address too, so that the answer says nothing.
   * @throws AppError UNAUTHENTICATED, RATE_LIMITED, UNAVAILABLE
   */
  async ofLogin(
    { email, password }: { email: string; password: string },
    browserHash: Buffer | null,
    origin: Origin | undefined,
  ): Promise<LoginCandidate> {
    await this.limits.call(origin);
    const person = await this.people.findForLogin(email, browserHash);
    const noGuess = await this.limits.password(email, person?.browserId ?? null, origin);
    const isRight = await this.hasher.verify(person?.passwordHash ?? null, password, origin);
    if (person && isRight) {
      await noGuess();
      return person;
    }
    await this.audit.count(person?.id ?? null, 'login_failed', origin);
    throw new AppError('UNAUTHENTICATED', 'The e-mail address or the password is wrong.');
  }

  /**
   * For a change by somebody who is logged in.
   * @param field what an error names
   * @throws AppError INVALID_BODY: it is wrong; UNAUTHENTICATED, RATE_LIMITED, UNAVAILABLE
   */
  async ofCaller(
    { personId, sessionId, origin }: Caller,
    password: string,
    field: string,
  ): Promise<PersonRow> {
    const noGuess = await this.limits.ownPassword(sessionId);
    const person = await this.people.find(personId);
    if (!(await this.hasher.verify(person?.passwordHash ?? null, password, origin)))
      throw AppError.invalidBody(field, 'is not your password');
    await noGuess();
    return person!;
  }

  /** A code of somebody who is logged in. @throws AppError RATE_LIMITED */
  countCode({ sessionId }: Caller): Promise<NoGuess> {
    return this.limits.code(sessionId, null);
  }
}

/**
 * For the transaction after a check, under the person's lock.
 * @throws AppError UNAUTHENTICATED: the password was changed while it was checked
 */
export function requireSamePassword(checked: PersonRow, locked: PersonRow | null): PersonRow {
  if (locked?.passwordHash === checked.passwordHash) return locked;
  throw new AppError('UNAUTHENTICATED', 'The password was changed meanwhile: log in again.');
}
