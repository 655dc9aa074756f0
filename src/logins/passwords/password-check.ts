import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { Origin } from '../../access/principal';
import { Transaction } from '../../database/transaction';
import { GuessLimits } from '../people/guess-limits';
import { LoginAudit } from '../people/login-audit';
import { LoginCandidate, PeopleRepository, PersonRow } from '../people/people.repository';
import { SessionHolder } from '../sessions/session.dto';
import { PasswordHasher } from './password-hasher';
import { requireGoodPassword } from './password-policy';

/** Checks passwords, and limits the number of guesses. Checks new passwords against the policy. */
@Injectable()
export class PasswordCheck {
  constructor(
    private readonly people: PeopleRepository,
    private readonly hasher: PasswordHasher,
    private readonly limits: GuessLimits,
    private readonly audit: LoginAudit,
  ) {}

  /**
   * Checks the password of a login. An unknown e-mail address costs as many reads and hashes as a known one,
   * so the time of the answer does not reveal whether the login exists.
   * @throws AppError UNAUTHENTICATED, RATE_LIMITED, UNAVAILABLE
   */
  async requireLogin(
    { email, password }: { email: string; password: string },
    browserHash: Buffer | null,
    origin: Origin | undefined,
  ): Promise<LoginCandidate> {
    await this.limits.countCall(origin);
    const person = await this.people.findForLogin(email, browserHash);
    const noGuess = await this.limits.countPassword(email, person?.browserId ?? null, origin);
    const isRight = await this.hasher.verify(person?.passwordHash ?? null, password, origin);
    if (person && isRight) {
      await noGuess();
      return person;
    }
    await this.audit.count(person?.id ?? null, 'login_failed', origin);
    throw AppError.because('UNAUTHENTICATED', 'login_wrong');
  }

  /**
   * Locks the row of the person whose password was checked.
   * @throws AppError UNAUTHENTICATED: the password was changed since the check
   */
  async lockSame(tx: Transaction, checked: PersonRow): Promise<PersonRow> {
    return requireSamePassword(checked, await this.people.lock(tx, checked.id));
  }

  /**
   * Checks the present password of a person who is logged in, before a change.
   * @param field name of the field in an error
   * @throws AppError INVALID_BODY: the password is wrong; RATE_LIMITED, UNAVAILABLE
   */
  async requireOwn(
    { personId, sessionId, origin }: SessionHolder,
    password: string,
    field: string,
  ): Promise<PersonRow> {
    const noGuess = await this.limits.countOwnPassword(sessionId);
    const person = await this.people.find(personId);
    if (!(await this.hasher.verify(person?.passwordHash ?? null, password, origin)))
      throw AppError.invalidBody(field, 'password_wrong');
    await noGuess();
    return person!;
  }

  /**
   * Checks a new password against the policy, and hashes it.
   * @param email e-mail address of the person, which must not be the password
   * @param field name of the field in an error
   * @throws AppError INVALID_BODY: the policy refuses the password; RATE_LIMITED; UNAVAILABLE: too many
   *   passwords are hashed at once
   */
  async hashNew(password: string, email: string, field: string, origin?: Origin): Promise<string> {
    await requireGoodPassword(password, email, field);
    return this.hasher.hash(password, origin);
  }

  /**
   * Hashes a new password of a person who is logged in. Each call counts as a guess, because an error tells
   * the caller if the new password is the present one.
   * @throws AppError INVALID_BODY: the policy refuses the password, or it is the present one; RATE_LIMITED,
   *   UNAVAILABLE
   */
  async hashOther(
    { personId, sessionId, origin }: SessionHolder,
    password: string,
    field: string,
  ): Promise<{ person: PersonRow; hash: string }> {
    await this.limits.countOwnPassword(sessionId);
    const person = await this.people.find(personId);
    const hash = await this.hashNew(password, person?.email ?? '', field, origin);
    if (await this.hasher.verify(person?.passwordHash ?? null, password, origin))
      throw AppError.invalidBody(field, 'password_present');
    return { person: person!, hash };
  }

  /**
   * Counts a request for a password reset, and finds the person of the e-mail address. As many statements run
   * for an unknown address as for a known one, so their times do not differ.
   * @throws AppError RATE_LIMITED
   */
  async findForReset(email: string, origin: Origin | undefined): Promise<PersonRow | null> {
    await this.limits.countReset(email, origin);
    const person = await this.people.findByEmail(email);
    await this.audit.count(person?.id ?? null, 'password_reset_requested', origin);
    return person;
  }
}

/**
 * Returns `locked`, the person as read under the row lock, if the password has not changed since the check.
 * @throws AppError UNAUTHENTICATED: the password was changed, or the person was deleted
 */
export function requireSamePassword(checked: PersonRow, locked: PersonRow | null): PersonRow {
  if (locked?.passwordHash === checked.passwordHash) return locked;
  throw AppError.because('UNAUTHENTICATED', 'password_changed');
}
