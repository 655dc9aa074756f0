import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { Transaction } from '../database/transaction';
import { Caller, RenewedSession } from './login.dto';
import { LoginSessionsRepository } from './login-sessions.repository';
import { hashToken, newToken } from './login-tokens';
import { PendingLoginsRepository } from './pending-logins.repository';
import { PeopleRepository, PersonRow } from './people.repository';

/** Who changes their own login: checked in the transaction of the change. */
@Injectable()
export class Callers {
  constructor(
    private readonly people: PeopleRepository,
    private readonly sessions: LoginSessionsRepository,
    private readonly pending: PendingLoginsRepository,
  ) {}

  /**
   * Locks the caller's login. Once the end of a session is answered, nothing that it began commits any more.
   * @throws AppError UNAUTHENTICATED: the session has ended
   */
  async lock(tx: Transaction, { personId, sessionId }: Caller): Promise<PersonRow> {
    const person = await this.people.lock(tx, personId);
    if (!person || !(await this.sessions.isActive(tx, personId, sessionId)))
      throw new AppError('UNAUTHENTICATED', 'The session has ended: log in again.');
    return person;
  }

  /** For a change of what a login needs: the caller's session goes on under a new token, everything else ends. */
  async renew(tx: Transaction, caller: Caller): Promise<RenewedSession> {
    const token = newToken();
    await this.sessions.renew(tx, caller.sessionId, hashToken(token));
    await this.endOthers(tx, caller);
    return { token };
  }

  async endOthers(tx: Transaction, { personId, sessionId }: Caller): Promise<void> {
    await this.sessions.deleteOthers(tx, personId, sessionId);
    await this.pending.deleteAll(tx, personId);
  }

  /** For somebody who is not logged in: everything ends. @returns how many sessions */
  async endAll(tx: Transaction, personId: string): Promise<number> {
    await this.pending.deleteAll(tx, personId);
    return this.sessions.deleteOthers(tx, personId, null);
  }
}
