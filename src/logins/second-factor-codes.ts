import { Injectable } from '@nestjs/common';
import { Secret, TOTP } from 'otpauth';
import { Transaction } from '../database/transaction';
import { hashRecoveryCode } from './recovery-codes';
import { SecondFactorsRepository } from './second-factors.repository';

const PERIOD_SECONDS = 30;
/** Codes of the step before and after are right too: clocks differ. */
const WINDOW = 1;
const SECRET_BYTES = 20;
const SIX_DIGITS = /^\d{6}$/;
const SPACES = /\s/g;

export type UsedCode = 'app' | 'recovery';

/** Checks codes of a second factor, and uses them up. The caller holds the person's lock. */
@Injectable()
export class SecondFactorCodes {
  constructor(private readonly factors: SecondFactorsRepository) {}

  static newSecret(): string {
    return new Secret({ size: SECRET_BYTES }).base32;
  }

  /** What an app takes in as a QR code. */
  static uriOf(secret: string, issuer: string, label: string): string {
    return totpOf(secret, issuer, label).toString();
  }

  /** @returns null when the code is wrong or was used already */
  async use(tx: Transaction, personId: string, code: string): Promise<UsedCode | null> {
    const digits = code.replace(SPACES, '');
    if (SIX_DIGITS.test(digits)) return (await this.useAppCode(tx, personId, digits)) ? 'app' : null;
    return (await this.factors.useRecoveryCode(tx, personId, hashRecoveryCode(code))) ? 'recovery' : null;
  }

  /** Also one that is not confirmed yet. */
  async useAppCode(tx: Transaction, personId: string, code: string): Promise<boolean> {
    const digits = code.replace(SPACES, '');
    const factor = SIX_DIGITS.test(digits) ? await this.factors.find(tx, personId) : null;
    if (!factor) return false;
    const now = Date.now();
    const delta = totpOf(factor.secret).validate({ token: digits, timestamp: now, window: WINDOW });
    if (delta === null) return false;
    const step = Math.floor(now / 1000 / PERIOD_SECONDS) + delta;
    return this.factors.useStep(tx, personId, step);
  }
}

function totpOf(secret: string, issuer?: string, label?: string): TOTP {
  return new TOTP({ issuer, label, algorithm: 'SHA1', digits: 6, period: PERIOD_SECONDS, secret });
}
