import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { Origin } from '../common/principal';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { Callers } from './callers';
import { LoginAudit } from './login-audit';
import { hashToken, newToken } from './login-tokens';
import { PasswordResetsRepository } from './password-resets.repository';
import { PasswordSetter } from './password-setter';
import { PeopleRepository, PersonRow } from './people.repository';

export interface ResetToken {
  person: PersonRow;
  token: string;
  expiresAt: Date;
}

/** The tokens of links that reset a password. */
@Injectable()
export class ResetTokens {
  constructor(
    private readonly database: Database,
    private readonly people: PeopleRepository,
    private readonly resets: PasswordResetsRepository,
    private readonly setter: PasswordSetter,
    private readonly callers: Callers,
    private readonly audit: LoginAudit,
  ) {}

  make(personId: string): Promise<ResetToken> {
    return this.database.transaction((tx) => this.makeIn(tx, personId));
  }

  /** @throws AppError NOT_FOUND */
  async makeIn(tx: Transaction, personId: string): Promise<ResetToken> {
    const person = await this.people.lock(tx, personId);
    if (!person) throw AppError.notFound('Person');
    const token = newToken();
    return { person, token, expiresAt: await this.resets.insert(tx, personId, hashToken(token)) };
  }

  async find(hash: Buffer): Promise<PersonRow | null> {
    const personId = await this.resets.find(hash);
    return personId === null ? null : this.people.find(personId);
  }

  /** @returns false when it was used meanwhile */
  async use(
    hash: Buffer,
    personId: string,
    passwordHash: string,
    origin: Origin | undefined,
  ): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      await this.people.lock(tx, personId);
      if (!(await this.resets.use(tx, hash))) return false;
      await this.setter.set(tx, personId, passwordHash);
      await this.callers.endAll(tx, personId);
      await this.audit.append(tx, personId, { action: 'password_reset', origin });
      return true;
    });
  }
}
