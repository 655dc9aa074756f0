import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { Actor, Origin } from '../../access/principal';
import { Transaction } from '../../database/transaction';
import { MadeLink } from '../links/link-mailer';
import { LoginAudit } from '../people/login-audit';
import { newToken } from '../people/login-tokens';
import { PeopleRepository, PersonRow } from '../people/people.repository';
import { KnownBrowsersRepository } from '../sessions/known-browsers.repository';
import { PersonSessions } from '../sessions/person-sessions';
import { RenewedSession, SessionHolder } from '../sessions/session.dto';
import { requireSamePassword } from './password-check';
import { PasswordResetsRepository, ResetGrant } from './password-resets.repository';

interface MadeReset extends MadeLink {
  person: PersonRow;
}

@Injectable()
export class PersonPassword {
  constructor(
    private readonly people: PeopleRepository,
    private readonly resets: PasswordResetsRepository,
    private readonly browsers: KnownBrowsersRepository,
    private readonly sessions: PersonSessions,
    private readonly audit: LoginAudit,
  ) {}

  /**
   * Changes the holder's password.
   * @param checked the person, as read when the present password was checked
   * @throws AppError UNAUTHENTICATED: the session has ended, or the password was changed since the check
   */
  async change(
    tx: Transaction,
    holder: SessionHolder,
    checked: PersonRow,
    passwordHash: string,
  ): Promise<RenewedSession> {
    const { personId, origin } = holder;
    requireSamePassword(checked, await this.sessions.lock(tx, holder));
    await this.set(tx, personId, passwordHash);
    await this.audit.append(tx, personId, { action: 'password_changed', origin });
    return this.sessions.renew(tx, holder);
  }

  /**
   * Locks the person's row, and makes a link that resets the password, without sending it. If `grant` names
   * an agent and a manager, the link ends when either gets another role or is deactivated.
   * @throws AppError NOT_FOUND: there is no such person
   */
  async makeReset(
    tx: Transaction,
    personId: string,
    { operator, grant = null }: { operator?: Actor; grant?: ResetGrant | null } = {},
  ): Promise<MadeReset> {
    const person = await this.people.lock(tx, personId);
    if (!person) throw AppError.notFound('Person');
    const { token, hash } = newToken();
    const expiresAt = await this.resets.insert(tx, personId, hash, grant);
    if (operator) await this.audit.append(tx, personId, { action: 'password_reset_sent', operator });
    return { person, token, expiresAt };
  }

  async findByReset(tx: Transaction, linkHash: Buffer): Promise<PersonRow | null> {
    const personId = await this.resets.find(tx, linkHash);
    return personId === null ? null : this.people.find(personId, tx);
  }

  /**
   * Sets a new password with a link, uses the link up, and ends all sessions of the person.
   * @returns false if the link does not work: then nothing was changed
   */
  async reset(
    tx: Transaction,
    personId: string,
    linkHash: Buffer,
    passwordHash: string,
    origin: Origin | undefined,
  ): Promise<boolean> {
    // `find` locks the link's agents. It comes before the lock on the person, to avoid deadlocks.
    if ((await this.resets.find(tx, linkHash)) === null) return false;
    await this.people.lock(tx, personId);
    if (!(await this.resets.use(tx, linkHash))) return false;
    await this.set(tx, personId, passwordHash);
    await this.sessions.endAll(tx, personId);
    await this.audit.append(tx, personId, { action: 'password_reset', origin });
    return true;
  }

  /** Sets the password, and deletes the person's links that reset it and the person's known browsers. */
  private async set(tx: Transaction, personId: string, passwordHash: string): Promise<void> {
    await this.people.setPassword(tx, personId, passwordHash);
    await this.resets.deleteAll(tx, personId);
    await this.browsers.deleteAll(tx, personId);
  }
}
