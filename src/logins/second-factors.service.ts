import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { validate } from '../common/validate';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import {
  BeginSecondFactor,
  Caller,
  ConfirmNewSecondFactor,
  NewSecondFactor,
  PasswordAndCode,
  RecoveryCodes,
  RenewedSession,
} from './login.dto';
import { Callers } from './callers';
import { LoginAudit } from './login-audit';
import { PasswordCheck, requireSamePassword } from './password-check';
import { PersonRow } from './people.repository';
import { SecondFactors } from './second-factors';

/** The second factor of people who are logged in: a code of an app, by TOTP. */
@Injectable()
export class SecondFactorsService {
  constructor(
    private readonly database: Database,
    private readonly check: PasswordCheck,
    private readonly factors: SecondFactors,
    private readonly callers: Callers,
    private readonly audit: LoginAudit,
  ) {}

  /**
   * Begins with a new secret, which replaces one that was never confirmed.
   * @throws AppError INVALID_BODY: a wrong password, or there is a second factor already; UNAUTHENTICATED, RATE_LIMITED,
   * UNAVAILABLE
   */
  async begin(caller: Caller, input: BeginSecondFactor): Promise<NewSecondFactor> {
    const { password } = validate(BeginSecondFactor, input);
    const checked = await this.check.ofCaller(caller, password, 'password');
    return this.database.transaction(async (tx) => {
      const person = requireSamePassword(checked, await this.callers.lock(tx, caller));
      if (person.hasSecondFactor) throw isOn();
      return this.factors.begin(tx, person);
    });
  }

  /**
   * Turns the second factor on with a code of the new secret. The caller's session goes on under a new token; all others
   * end.
   * @returns ten recovery codes, only now
   * @throws AppError INVALID_BODY: the code is wrong, or nothing was begun; UNAUTHENTICATED, RATE_LIMITED
   */
  async confirm(caller: Caller, input: ConfirmNewSecondFactor): Promise<RecoveryCodes & RenewedSession> {
    const { code } = validate(ConfirmNewSecondFactor, input);
    const { personId, origin } = caller;
    return this.withCode(caller, async (tx, person) => {
      if (person.hasSecondFactor) throw isOn();
      const recoveryCodes = await this.factors.confirm(tx, personId, code);
      if (!recoveryCodes) return null;
      await this.audit.append(tx, personId, { action: 'second_factor_turned_on', origin });
      return { recoveryCodes, ...(await this.callers.renew(tx, caller)) };
    });
  }

  /**
   * Turns the second factor off. The caller's session goes on under a new token; all others end.
   * @throws AppError INVALID_BODY: a wrong password or code, or it is off; UNAUTHENTICATED, RATE_LIMITED, UNAVAILABLE
   */
  async turnOff(caller: Caller, input: PasswordAndCode): Promise<RenewedSession> {
    const { personId, origin } = caller;
    return this.withPasswordAndCode(caller, input, async (tx) => {
      await this.factors.turnOff(tx, personId);
      await this.audit.append(tx, personId, { action: 'second_factor_turned_off', origin });
      return this.callers.renew(tx, caller);
    });
  }

  /**
   * Replaces the recovery codes, used or not. The caller's session goes on under a new token; all others end.
   * @returns ten new ones, only now
   * @throws AppError as `turnOff`
   */
  async newRecoveryCodes(caller: Caller, input: PasswordAndCode): Promise<RecoveryCodes & RenewedSession> {
    const { personId, origin } = caller;
    return this.withPasswordAndCode(caller, input, async (tx) => {
      const recoveryCodes = await this.factors.renewRecoveryCodes(tx, personId);
      await this.audit.append(tx, personId, { action: 'recovery_codes_renewed', origin });
      return { recoveryCodes, ...(await this.callers.renew(tx, caller)) };
    });
  }

  private async withPasswordAndCode<T>(
    caller: Caller,
    input: PasswordAndCode,
    work: (tx: Transaction) => Promise<T>,
  ): Promise<T> {
    const { password, code } = validate(PasswordAndCode, input);
    const checked = await this.check.ofCaller(caller, password, 'password');
    return this.withCode(caller, async (tx, locked) => {
      const person = requireSamePassword(checked, locked);
      if (!person.hasSecondFactor)
        throw AppError.invalidBody('code', 'is of no use: there is no second factor');
      return (await this.factors.use(tx, caller, code)) ? work(tx) : null;
    });
  }

  /** @param work returns null for a wrong code, and has changed nothing then */
  private async withCode<T>(
    caller: Caller,
    work: (tx: Transaction, person: PersonRow) => Promise<T | null>,
  ): Promise<T> {
    const noGuess = await this.check.countCode(caller);
    const done = await this.database.transaction(async (tx) => work(tx, await this.callers.lock(tx, caller)));
    if (done === null) throw AppError.invalidBody('code', 'is wrong, or was used already');
    await noGuess();
    return done;
  }
}

function isOn(): AppError {
  return new AppError('INVALID_BODY', 'There is a second factor already: turn it off first.');
}
