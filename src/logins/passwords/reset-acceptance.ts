import { Injectable } from '@nestjs/common';
import { Origin } from '../../access/principal';
import { Database } from '../../database/database';
import { linkGone, PasswordSet } from '../links/link.dto';
import { parseToken } from '../people/login-tokens';
import { PeopleRepository, PersonRow } from '../people/people.repository';
import { PasswordCheck } from './password-check';
import { PasswordResetsRepository } from './password-resets.repository';
import { PersonPassword } from './person-password';

/** Link that resets a person's password, as its token finds it. */
export interface ResetLink {
  kind: 'reset';
  hash: Buffer;
  person: PersonRow;
}

/** Accepts links that reset a password. */
@Injectable()
export class ResetAcceptance {
  constructor(
    private readonly database: Database,
    private readonly people: PeopleRepository,
    private readonly resets: PasswordResetsRepository,
    private readonly check: PasswordCheck,
    private readonly password: PersonPassword,
  ) {}

  /** Finds the link of a token; null for a token of no link that works. */
  async find(token: string): Promise<ResetLink | null> {
    const hash = parseToken(token);
    const personId = hash && (await this.database.transaction((tx) => this.resets.find(tx, hash)));
    const person = personId && (await this.people.find(personId));
    return person ? { kind: 'reset', hash, person } : null;
  }

  /**
   * Sets the password, and ends all sessions of the person. A second factor stays.
   * @throws AppError INVALID_BODY: a bad password; NOT_FOUND: another request has used the link;
   * RATE_LIMITED, UNAVAILABLE
   */
  async accept(
    { hash, person }: ResetLink,
    password: string | undefined,
    origin: Origin | undefined,
  ): Promise<PasswordSet> {
    const passwordHash = await this.check.hashNew(password ?? '', person.email, 'password', origin);
    const isSet = await this.database.transaction((tx) =>
      this.password.reset(tx, person.id, hash, passwordHash, origin),
    );
    if (!isSet) throw linkGone();
    return { status: 'password_set' };
  }
}
