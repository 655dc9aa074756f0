import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { Origin } from '../../access/principal';
import { Config } from '../../config/config';
import { Transaction } from '../../database/transaction';
import { LoginAudit, LoginChangeAuthor } from '../people/login-audit';
import { PersonRow } from '../people/people.repository';
import {
  findTimeStep,
  hashRecoveryCode,
  isAppCode,
  newRecoveryCodes,
  newSecret,
  secretUri,
} from './second-factor-codes';
import { NewSecondFactor } from './second-factor.dto';
import { SecondFactorDemandsRepository } from './second-factor-demands.repository';
import { SecondFactorsRepository } from './second-factors.repository';

/** Begins, confirms, uses and turns off a second factor. All methods require the lock on the person's row. */
@Injectable()
export class PersonSecondFactor {
  constructor(
    private readonly config: Config,
    private readonly factors: SecondFactorsRepository,
    private readonly demands: SecondFactorDemandsRepository,
    private readonly audit: LoginAudit,
  ) {}

  async issueSecret(tx: Transaction, { id, email }: PersonRow): Promise<NewSecondFactor> {
    const secret = newSecret();
    await this.factors.replace(tx, id, secret);
    return { secret, uri: secretUri(secret, new URL(this.config.appUrl).hostname, email) };
  }

  /**
   * Turns on the second factor that was begun, if the app's code is right.
   * @returns new recovery codes; null if the code is wrong or no second factor was begun
   */
  async confirm(
    tx: Transaction,
    personId: string,
    code: string,
    origin: Origin | undefined,
  ): Promise<string[] | null> {
    if (!isAppCode(code) || !(await this.useAppCode(tx, personId, code))) return null;
    await this.factors.confirm(tx, personId);
    const recoveryCodes = await this.replaceRecoveryCodes(tx, personId);
    await this.audit.append(tx, personId, { action: 'second_factor_turned_on', origin });
    return recoveryCodes;
  }

  /** Marks a code of the app or a recovery code as used. Returns false if it is wrong or was used before. */
  async use(tx: Transaction, personId: string, code: string, origin: Origin | undefined): Promise<boolean> {
    if (isAppCode(code)) return this.useAppCode(tx, personId, code);
    const isUsed = await this.factors.useRecoveryCode(tx, personId, hashRecoveryCode(code));
    if (isUsed) await this.audit.append(tx, personId, { action: 'recovery_code_used', origin });
    return isUsed;
  }

  async renewRecoveryCodes(tx: Transaction, personId: string, origin: Origin | undefined): Promise<string[]> {
    const recoveryCodes = await this.replaceRecoveryCodes(tx, personId);
    await this.audit.append(tx, personId, { action: 'recovery_codes_renewed', origin });
    return recoveryCodes;
  }

  /**
   * Refuses to turn a second factor off if a workspace would lock the person out without it.
   * @throws AppError FORBIDDEN
   */
  async requireNoDemand(tx: Transaction, personId: string): Promise<void> {
    const workspace = await this.demands.findLocking(tx, personId);
    if (workspace !== null) throw AppError.because('FORBIDDEN', 'second_factor_demanded', { workspace });
  }

  async turnOff(tx: Transaction, personId: string, author: LoginChangeAuthor): Promise<void> {
    await this.factors.delete(tx, personId);
    await this.audit.append(tx, personId, { action: 'second_factor_turned_off', ...author });
  }

  private async useAppCode(tx: Transaction, personId: string, code: string): Promise<boolean> {
    const secret = await this.factors.findSecret(tx, personId);
    const step = secret === null ? null : findTimeStep(secret, code);
    return step !== null && this.factors.useTimeStep(tx, personId, step);
  }

  private async replaceRecoveryCodes(tx: Transaction, personId: string): Promise<string[]> {
    const codes = newRecoveryCodes();
    await this.factors.replaceRecoveryCodes(tx, personId, codes.map(hashRecoveryCode));
    return codes;
  }
}
