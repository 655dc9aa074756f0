import { Injectable } from '@nestjs/common';
import { Config } from '../config/config';
import { Transaction } from '../database/transaction';
import { Caller, NewSecondFactor } from './login.dto';
import { LoginAudit } from './login-audit';
import { PersonRow } from './people.repository';
import { hashRecoveryCode, newRecoveryCodes } from './recovery-codes';
import { SecondFactorCodes } from './second-factor-codes';
import { SecondFactorsRepository } from './second-factors.repository';

/** What becomes of a second factor. The caller holds the person's lock. */
@Injectable()
export class SecondFactors {
  constructor(
    private readonly config: Config,
    private readonly factors: SecondFactorsRepository,
    private readonly codes: SecondFactorCodes,
    private readonly audit: LoginAudit,
  ) {}

  async begin(tx: Transaction, { id, email }: PersonRow): Promise<NewSecondFactor> {
    const secret = SecondFactorCodes.newSecret();
    await this.factors.replace(tx, id, secret);
    const issuer = new URL(this.config.appUrl).hostname;
    return { secret, uri: SecondFactorCodes.uriOf(secret, issuer, email) };
  }

  /** @returns the recovery codes; null when the code is wrong, or nothing was begun */
  async confirm(tx: Transaction, personId: string, code: string): Promise<string[] | null> {
    if (!(await this.codes.useAppCode(tx, personId, code))) return null;
    await this.factors.confirm(tx, personId);
    return this.renewRecoveryCodes(tx, personId);
  }

  async renewRecoveryCodes(tx: Transaction, personId: string): Promise<string[]> {
    const codes = newRecoveryCodes();
    await this.factors.replaceRecoveryCodes(tx, personId, codes.map(hashRecoveryCode));
    return codes;
  }

  /** Uses a code of the app or a recovery code up. @returns false when it is wrong or was used already */
  async use(tx: Transaction, { personId, origin }: Caller, code: string): Promise<boolean> {
    const used = await this.codes.use(tx, personId, code);
    if (used === 'recovery') await this.audit.append(tx, personId, { action: 'recovery_code_used', origin });
    return used !== null;
  }

  turnOff(tx: Transaction, personId: string): Promise<void> {
    return this.factors.delete(tx, personId);
  }
}
