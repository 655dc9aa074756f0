import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { PasswordCheck, requireSamePassword } from '../passwords/password-check';
import { GuessLimits } from '../people/guess-limits';
import { PersonRow } from '../people/people.repository';
import { PersonSessions } from '../sessions/person-sessions';
import { RenewedSession, SessionHolder } from '../sessions/session.dto';
import { PersonSecondFactor } from './person-second-factor';
import {
  BeginSecondFactor,
  ConfirmNewSecondFactor,
  NewSecondFactor,
  PasswordAndCode,
  RecoveryCodes,
} from './second-factor.dto';

/** Turns people's own second factors (codes of an app, TOTP) on and off, and renews recovery codes. */
@Injectable()
export class SecondFactorsService {
  constructor(
    private readonly database: Database,
    private readonly check: PasswordCheck,
    private readonly factor: PersonSecondFactor,
    private readonly sessions: PersonSessions,
    private readonly limits: GuessLimits,
  ) {}

  /**
   * Makes the secret of a new second factor. It replaces a secret that was never confirmed.
   * @throws AppError INVALID_BODY: the password is wrong, or a second factor is on; UNAUTHENTICATED,
   *   RATE_LIMITED, UNAVAILABLE
   */
  async begin(holder: SessionHolder, input: BeginSecondFactor): Promise<NewSecondFactor> {
    const { password } = validate(BeginSecondFactor, input);
    const checked = await this.check.requireOwn(holder, password, 'password');
    return this.database.transaction(async (tx) => {
      const person = requireSamePassword(checked, await this.sessions.lock(tx, holder));
      if (person.hasSecondFactor) throw isOn();
      return this.factor.issueSecret(tx, person);
    });
  }

  /**
   * Turns the second factor on with a code of the new secret. The session continues under a new token; the
   * person's other sessions end.
   * @returns the new token and ten recovery codes, which can't be read again
   * @throws AppError INVALID_BODY: the code is wrong, `begin` was not called, or a second factor is on;
   *   UNAUTHENTICATED, RATE_LIMITED
   */
  async confirm(
    holder: SessionHolder,
    input: ConfirmNewSecondFactor,
  ): Promise<RecoveryCodes & RenewedSession> {
    const { code } = validate(ConfirmNewSecondFactor, input);
    const { personId, origin } = holder;
    return this.runWithCode(holder, async (tx, person) => {
      if (person.hasSecondFactor) throw isOn();
      const recoveryCodes = await this.factor.confirm(tx, personId, code, origin);
      return recoveryCodes && { recoveryCodes, ...(await this.sessions.renew(tx, holder)) };
    });
  }

  /**
   * Turns the second factor off. The session continues under a new token; the person's other sessions end.
   * @throws AppError INVALID_BODY: the password or the code is wrong, or the second factor is off; FORBIDDEN:
   *   a workspace demands a second factor, and its days of grace are over; UNAUTHENTICATED, RATE_LIMITED,
   *   UNAVAILABLE
   */
  async turnOff(holder: SessionHolder, input: PasswordAndCode): Promise<RenewedSession> {
    const { personId, origin } = holder;
    return this.runWithPasswordAndCode(holder, input, async (tx) => {
      await this.factor.requireNoDemand(tx, personId);
      await this.factor.turnOff(tx, personId, { origin });
      return this.sessions.renew(tx, holder);
    });
  }

  /**
   * Replaces all recovery codes by ten new ones. The session continues under a new token; the person's other
   * sessions end.
   * @returns the new token and the new codes, which can't be read again
   * @throws AppError INVALID_BODY: the password or the code is wrong, or the second factor is off;
   *   UNAUTHENTICATED, RATE_LIMITED, UNAVAILABLE
   */
  async renewRecoveryCodes(
    holder: SessionHolder,
    input: PasswordAndCode,
  ): Promise<RecoveryCodes & RenewedSession> {
    const { personId, origin } = holder;
    return this.runWithPasswordAndCode(holder, input, async (tx) => {
      const recoveryCodes = await this.factor.renewRecoveryCodes(tx, personId, origin);
      return { recoveryCodes, ...(await this.sessions.renew(tx, holder)) };
    });
  }

  private async runWithPasswordAndCode<T>(
    holder: SessionHolder,
    input: PasswordAndCode,
    work: (tx: Transaction) => Promise<T>,
  ): Promise<T> {
    const { password, code } = validate(PasswordAndCode, input);
    const checked = await this.check.requireOwn(holder, password, 'password');
    return this.runWithCode(holder, async (tx, locked) => {
      const { id, hasSecondFactor } = requireSamePassword(checked, locked);
      if (!hasSecondFactor) throw AppError.invalidBody('code', 'code_useless');
      return (await this.factor.use(tx, id, code, holder.origin)) ? work(tx) : null;
    });
  }

  /**
   * Runs `work`, which checks a code, in a transaction that holds the lock on the person's row. A wrong code
   * counts against the limit of guesses.
   * @param work returns null for a wrong code, and then must have changed nothing
   */
  private async runWithCode<T>(
    holder: SessionHolder,
    work: (tx: Transaction, person: PersonRow) => Promise<T | null>,
  ): Promise<T> {
    const noGuess = await this.limits.countCode(holder.sessionId);
    const done = await this.database.transaction(async (tx) =>
      work(tx, await this.sessions.lock(tx, holder)),
    );
    if (done === null) throw AppError.invalidBody('code', 'code_wrong');
    await noGuess();
    return done;
  }
}

function isOn(): AppError {
  return AppError.because('INVALID_BODY', 'second_factor_on');
}
