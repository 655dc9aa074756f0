import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { Origin } from '../common/principal';
import { Transaction } from '../database/transaction';
import { GuessLimits, NoGuess } from './guess-limits';
import { SecondFactorRequired } from './login.dto';
import { LoginAudit } from './login-audit';
import { hashOf, hashToken, newToken } from './login-tokens';
import { PendingLogin, PendingLoginsRepository } from './pending-logins.repository';
import { SecondFactorCodes } from './second-factor-codes';

/** An attempt of a code. */
export interface Attempt extends PendingLogin {
  noGuess: NoGuess;
}

/** The step of a login between password and session, for a person with a second factor. */
@Injectable()
export class SecondStep {
  constructor(
    private readonly pending: PendingLoginsRepository,
    private readonly codes: SecondFactorCodes,
    private readonly limits: GuessLimits,
    private readonly audit: LoginAudit,
  ) {}

  /** The caller holds the person's lock. */
  async begin(tx: Transaction, pending: PendingLogin): Promise<SecondFactorRequired> {
    const pendingToken = newToken();
    const expiresAt = await this.pending.insert(tx, hashToken(pendingToken), pending);
    return { status: 'second_factor_required', pendingToken, expiresAt };
  }

  /**
   * Counts an attempt before the code is looked at.
   * @throws AppError UNAUTHENTICATED: there is no such pending login any more; RATE_LIMITED
   */
  async attempt(pendingToken: string, origin: Origin | undefined): Promise<Attempt> {
    await this.limits.call(origin);
    const hash = hashOf(pendingToken);
    const pending = hash && (await this.pending.attempt(hash));
    if (!pending) throw ended();
    const noGuess = await this.limits.code(pending.personId, pending.browserId);
    return { ...pending, noGuess };
  }

  /**
   * Uses the code up, and ends the pending login. The caller holds the person's lock.
   * @returns false when the code is wrong: nothing has changed then
   * @throws AppError UNAUTHENTICATED: the same pending login was finished meanwhile
   */
  async finish(
    tx: Transaction,
    { personId }: PendingLogin,
    { pendingToken, code }: { pendingToken: string; code: string },
    origin: Origin | undefined,
  ): Promise<boolean> {
    const used = await this.codes.use(tx, personId, code);
    if (!used) return false;
    if (!(await this.pending.delete(tx, hashToken(pendingToken)))) throw ended();
    if (used === 'recovery') await this.audit.append(tx, personId, { action: 'recovery_code_used', origin });
    return true;
  }

  /** @returns the error of a wrong code, which is counted */
  async refuse({ personId }: PendingLogin, origin: Origin | undefined): Promise<AppError> {
    await this.audit.count(personId, 'code_failed', origin);
    return new AppError('UNAUTHENTICATED', 'The code is wrong, or was used already.');
  }
}

function ended(): AppError {
  return new AppError('UNAUTHENTICATED', 'This login has ended: enter the password again.');
}
