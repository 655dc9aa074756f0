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
}

@Injectable()
export class PeopleService {
  constructor(
    private readonly database: Database,
    private readonly people: PeopleRepository,
    private readonly sessions: PersonSessions,
    private readonly agents: AgentsRepository,
    private readonly memberships: MembershipsRepository,
    private readonly audit: LoginAudit,
  ) {}

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
    return {
      person: { ...toPerson(person), ...times },
      memberships: await this.memberships.listForExport(personId),
      sessions: await this.sessions.list(personId),
      knownBrowsers: await this.sessions.listBrowsers(personId),
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
