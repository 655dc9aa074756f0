import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { Origin } from '../../access/principal';
import { Transaction } from '../../database/transaction';
import { GuessLimits, NoGuess } from '../people/guess-limits';
import { LoginAudit } from '../people/login-audit';
import { newToken, parseToken } from '../people/login-tokens';
import { PeopleRepository } from '../people/people.repository';
import { PendingLogin, PendingLoginsRepository } from '../sessions/pending-logins.repository';
import { SecondFactorRequired } from '../sessions/session.dto';
import { PersonSecondFactor } from './person-second-factor';

export interface CodeAttempt extends PendingLogin {
  hash: Buffer;
  noGuess: NoGuess;
}

/** Begins and finishes the second step of a login, in which a code follows the password. */
@Injectable()
export class SecondStep {
  constructor(
    private readonly pending: PendingLoginsRepository,
    private readonly people: PeopleRepository,
    private readonly factor: PersonSecondFactor,
    private readonly limits: GuessLimits,
    private readonly audit: LoginAudit,
  ) {}

  /** Makes a pending login. Requires the lock on the person's row. */
  async makePendingLogin(tx: Transaction, pending: PendingLogin): Promise<SecondFactorRequired> {
    const { token, hash } = newToken();
    const expiresAt = await this.pending.insert(tx, hash, pending);
    return { status: 'second_factor_required', pendingToken: token, expiresAt };
  }

  /**
   * Counts an attempt before its code is checked.
   * @throws AppError UNAUTHENTICATED: the pending login has expired or had five attempts; RATE_LIMITED
   */
  async countAttempt(pendingToken: string, origin: Origin | undefined): Promise<CodeAttempt> {
    await this.limits.countCall(origin);
    const hash = parseToken(pendingToken);
    const pending = hash && (await this.pending.countAttempt(hash));
    if (!pending) throw ended();
    const noGuess = await this.limits.countCode(pending.browserId ?? pending.personId);
    return { ...pending, hash, noGuess };
  }

  /**
   * Locks the person's row, marks the code as used, and ends the pending login.
   * @returns false if the code is wrong: then nothing was changed
   * @throws AppError UNAUTHENTICATED: another request has finished the pending login
   */
  async finish(
    tx: Transaction,
    { personId, hash }: CodeAttempt,
    code: string,
    origin: Origin | undefined,
  ): Promise<boolean> {
    await this.people.lock(tx, personId);
    if (!(await this.factor.use(tx, personId, code, origin))) return false;
    if (!(await this.pending.delete(tx, hash))) throw ended();
    return true;
  }

  /** Counts a wrong code for the audit log, and returns the error for the caller to throw. */
  async refuse({ personId }: CodeAttempt, origin: Origin | undefined): Promise<AppError> {
    await this.audit.count(personId, 'code_failed', origin);
    return AppError.because('UNAUTHENTICATED', 'login_code_wrong');
  }
}

function ended(): AppError {
  return AppError.because('UNAUTHENTICATED', 'login_ended');
}
