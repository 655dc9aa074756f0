import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { isId } from '../../common/ids';
import { trimUnseen } from '../../common/unseen';
import { Database, Reader } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { AgentKey } from '../../database/tables/table-declaration';
import { MembershipsRepository } from './memberships.repository';
import { Person, UpdatePerson } from './person.dto';

export interface PersonRow extends Person {
  passwordHash: string;
}

/** Person who tries to log in. `browserId` is null if the browser is unknown. */
export interface LoginCandidate extends PersonRow {
  browserId: string | null;
}

export interface PersonTimes {
  createdAt: Date;
  lastLoggedInAt: Date | null;
}

export interface AgentLogin {
  agentId: string;
  email: string;
  role: string;
  active: boolean;
  hasSecondFactor: boolean;
  lastLoggedInAt: Date | null;
}

const SELECT = `
  SELECT p.id, p.email, p.name, p.locale, p.theme, p.password_hash AS "passwordHash",
         EXISTS (SELECT FROM second_factors f
                 WHERE f.person_id = p.id AND f.confirmed_at IS NOT NULL) AS "hasSecondFactor"`;

@Injectable()
export class PeopleRepository {
  constructor(
    private readonly database: Database,
    private readonly memberships: MembershipsRepository,
  ) {}

  /**
   * Finds the person of an e-mail address, and the browser if the person has used it before.
   * @param browserHash hash of the browser's token; null without a token
   */
  async findForLogin(email: string, browserHash: Buffer | null): Promise<LoginCandidate | null> {
    const [person] = await this.database.prepared<LoginCandidate>(
      `${SELECT}, (SELECT b.id FROM known_browsers b
                   WHERE b.person_id = p.id AND b.hash = $2 AND b.expires_at > now()) AS "browserId"
       FROM people p WHERE p.email = $1`,
      [normalizeEmail(email), browserHash],
    );
    return person ?? null;
  }

  async find(id: string, reader: Reader = this.database): Promise<PersonRow | null> {
    if (!isId(id)) return null;
    const [person] = await reader.query<PersonRow>(`${SELECT} FROM people p WHERE p.id = $1`, [id]);
    return person ?? null;
  }

  async findByAgent(tx: Transaction, membership: AgentKey): Promise<PersonRow | null> {
    const personId = await this.memberships.findPersonId(tx, membership);
    return personId === null ? null : this.find(personId, tx);
  }

  async findByEmail(email: string): Promise<PersonRow | null> {
    const [person] = await this.database.query<PersonRow>(`${SELECT} FROM people p WHERE p.email = $1`, [
      normalizeEmail(email),
    ]);
    return person ?? null;
  }

  async getByEmail(email: string): Promise<PersonRow> {
    const person = await this.findByEmail(email);
    if (!person) throw AppError.notFound('Login');
    return person;
  }

  /**
   * Runs `work` in a transaction that holds the lock on the row of the person with this e-mail address.
   * @throws AppError NOT_FOUND
   */
  async withLockByEmail<T>(
    email: string,
    work: (tx: Transaction, person: PersonRow) => Promise<T>,
  ): Promise<T> {
    const { id } = await this.getByEmail(email);
    return this.database.transaction(async (tx) => {
      const person = await this.lock(tx, id);
      if (!person) throw AppError.notFound('Login');
      return work(tx, person);
    });
  }

  async listAgentLogins(tenantId: string): Promise<AgentLogin[]> {
    const agents = await this.memberships.listAgents(tenantId);
    const people = await this.database.query<
      Omit<AgentLogin, 'agentId' | 'role' | 'active'> & { id: string }
    >(
      `SELECT p.id, p.email, p.last_logged_in_at AS "lastLoggedInAt",
              EXISTS (SELECT FROM second_factors f
                      WHERE f.person_id = p.id AND f.confirmed_at IS NOT NULL) AS "hasSecondFactor"
       FROM people p WHERE p.id = ANY ($1::uuid[])`,
      [agents.map(({ personId }) => personId)],
    );
    const byId = new Map(people.map(({ id, ...person }) => [id, person]));
    return agents.flatMap(({ personId, ...agent }) => {
      const person = byId.get(personId);
      return person ? { ...agent, ...person } : [];
    });
  }

  /** Locks a person's row. Changes of a login, and acts that check its password, require this lock. */
  async lock(tx: Transaction, id: string): Promise<PersonRow | null> {
    await tx.query('SELECT FROM people WHERE id = $1 FOR NO KEY UPDATE', [id]);
    // The second statement sees changes that were committed while the first one waited for the lock.
    return this.find(id, tx);
  }

  async insert(tx: Transaction, person: Omit<PersonRow, 'hasSecondFactor'>): Promise<void> {
    const { id, email, name, locale, theme, passwordHash } = person;
    await tx.query(
      `INSERT INTO people (id, email, name, locale, theme, password_hash, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, now())`,
      [id, normalizeEmail(email), name, locale, theme, passwordHash],
    );
  }

  async setPassword(tx: Transaction, id: string, passwordHash: string): Promise<void> {
    await tx.query('UPDATE people SET password_hash = $2 WHERE id = $1', [id, passwordHash]);
  }

  async update(tx: Transaction, id: string, { name, locale, theme }: Required<UpdatePerson>): Promise<void> {
    await tx.query('UPDATE people SET name = $2, locale = $3, theme = $4 WHERE id = $1', [
      id,
      name,
      locale,
      theme,
    ]);
  }

  /** Deletes an agent's membership. If it was the person's only membership, the whole login is deleted. */
  async endMembership(tx: Transaction, agent: AgentKey): Promise<void> {
    const id = await this.memberships.findPersonId(tx, agent);
    if (id === null) return;
    // Accepting an invitation requires this lock too, so `count` misses no membership.
    await this.lock(tx, id);
    await this.memberships.delete(tx, id, agent);
    if ((await this.memberships.count(tx, id)) === 0)
      await tx.query('DELETE FROM people WHERE id = $1', [id]);
  }

  async findTimes(id: string): Promise<PersonTimes | null> {
    const [times] = await this.database.query<PersonTimes>(
      'SELECT created_at AS "createdAt", last_logged_in_at AS "lastLoggedInAt" FROM people WHERE id = $1',
      [id],
    );
    return times ?? null;
  }

  /** Records a login. Returns whether it was the person's first. Requires the lock on the person's row. */
  async markLoggedIn(tx: Transaction, id: string): Promise<boolean> {
    const [before] = await tx.query<{ isFirst: boolean }>(
      'SELECT last_logged_in_at IS NULL AS "isFirst" FROM people WHERE id = $1',
      [id],
    );
    await tx.query('UPDATE people SET last_logged_in_at = now() WHERE id = $1', [id]);
    return before!.isFirst;
  }
}

/** Returns the form in which an e-mail address is stored and compared. */
export function normalizeEmail(email: string): string {
  return trimUnseen(email).toLowerCase();
}

export function toPerson({ id, email, name, locale, theme, hasSecondFactor }: PersonRow): Person {
  return { id, email, name, locale, theme, hasSecondFactor };
}
