import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { validate } from '../common/validate';
import { Database } from '../database/database';
import { AgentsRepository } from '../workspaces/agents.repository';
import { LoginAudit } from './people/login-audit';
import { ExportedMembership, MembershipsRepository } from './people/memberships.repository';
import { PeopleRepository, PersonTimes, toPerson } from './people/people.repository';
import { Person, UpdatePerson } from './people/person.dto';
import { KnownBrowser } from './sessions/known-browsers.repository';
import { PersonSessions } from './sessions/person-sessions';
import { LoginSession, SessionHolder } from './sessions/session.dto';

export interface PersonExport {
  person: Person & PersonTimes;
  /** One entry for each workspace of the person, including workspaces in which the agent is inactive. */
  memberships: ExportedMembership[];
  sessions: LoginSession[];
  knownBrowsers: KnownBrowser[];
  /** Rows about the person in tables of other features, by name. */
  others: Record<string, object[]>;
}

/** Reads rows about a person, without secrets and their hashes. */
type ReadRows = (personId: string) => Promise<object[]>;

@Injectable()
export class PeopleService {
  private readonly others = new Map<string, ReadRows>();

  constructor(
    private readonly database: Database,
    private readonly people: PeopleRepository,
    private readonly sessions: PersonSessions,
    private readonly agents: AgentsRepository,
    private readonly memberships: MembershipsRepository,
    private readonly audit: LoginAudit,
  ) {}

  /**
   * Registers rows of another feature for the exports of people.
   * @internal
   */
  registerExport(name: string, read: ReadRows): void {
    this.others.set(name, read);
  }

  /**
   * Returns the person who is logged in.
   * @throws AppError NOT_FOUND
   */
  async get({ personId }: Pick<SessionHolder, 'personId'>): Promise<Person> {
    const person = await this.people.find(personId);
    if (!person) throw AppError.notFound('Person');
    return toPerson(person);
  }

  /**
   * Returns all stored data about a person who logs in, except secrets and their hashes.
   * @throws AppError NOT_FOUND
   */
  async export({ personId }: Pick<SessionHolder, 'personId'>): Promise<PersonExport> {
    const [person, times] = [await this.people.find(personId), await this.people.findTimes(personId)];
    if (!person || !times) throw AppError.notFound('Person');
    const others: PersonExport['others'] = {};
    for (const [name, read] of this.others) others[name] = await read(personId);
    return {
      person: { ...toPerson(person), ...times },
      memberships: await this.memberships.listForExport(personId),
      sessions: await this.sessions.list(personId),
      knownBrowsers: await this.sessions.listBrowsers(personId),
      others,
    };
  }

  /**
   * Changes the name, language or theme of the person who holds the session. A new name is also set on the
   * person's active agents, for colleagues to see. The names that customers see do not change.
   * @throws AppError INVALID_BODY, UNAUTHENTICATED
   */
  async update(holder: SessionHolder, input: UpdatePerson): Promise<Person> {
    const { name, locale, theme } = validate(UpdatePerson, input);
    return this.database.transaction(async (tx) => {
      // Workspaces are locked first, then agents, then the person. `LinkRecipients.lock` locks in this order
      // as well, so the two methods can't deadlock.
      const agents = name === undefined ? [] : await this.memberships.listActive(holder.personId, tx);
      await this.agents.lockWithWorkspaces(tx, agents);
      const before = await this.sessions.lock(tx, holder);
      const after = {
        name: name ?? before.name,
        locale: locale === undefined ? before.locale : locale,
        theme: theme ?? before.theme,
      };
      await this.people.update(tx, before.id, after);
      if (after.name !== before.name) {
        for (const { tenantId, agentId } of agents)
          await this.agents.rename(tx, tenantId, agentId, after.name);
        await this.audit.append(tx, holder.personId, { action: 'renamed', origin: holder.origin });
      }
      return toPerson({ ...before, ...after });
    });
  }
}
