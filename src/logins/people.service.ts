import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { validate } from '../common/validate';
import { Database } from '../database/database';
import { AgentsRepository } from '../workspaces/agents.repository';
import { WorkspacesRepository } from '../workspaces/workspaces.repository';
import { LoginAudit } from './people/login-audit';
import { MembershipsRepository } from './people/memberships.repository';
import { PeopleRepository, toPerson } from './people/people.repository';
import { Person, UpdatePerson } from './people/person.dto';
import { PersonExport, PersonExports } from './person-export';
import { PersonSessions } from './sessions/person-sessions';
import { SessionHolder } from './sessions/session.dto';

/** Reads and changes a person's name, language and theme. */
@Injectable()
export class PeopleService {
  constructor(
    private readonly database: Database,
    private readonly people: PeopleRepository,
    private readonly sessions: PersonSessions,
    private readonly workspaces: WorkspacesRepository,
    private readonly agents: AgentsRepository,
    private readonly memberships: MembershipsRepository,
    private readonly audit: LoginAudit,
    private readonly exports: PersonExports,
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
   * Returns everything that is stored about the holder's login, without secrets.
   * @throws AppError NOT_FOUND
   */
  export({ personId }: Pick<SessionHolder, 'personId'>): Promise<PersonExport> {
    return this.exports.get(personId);
  }

  /**
   * Changes the holder's name, language or theme. A new name is also that of the holder's agents, which
   * colleagues see; the names that customers see stay.
   * @throws AppError INVALID_BODY, UNAUTHENTICATED
   */
  async update(holder: SessionHolder, input: UpdatePerson): Promise<Person> {
    const { name, locale, theme } = validate(UpdatePerson, input);
    return this.database.transaction(async (tx) => {
      // The order of the locks is that of a manager who makes a link for one of the agents.
      const agents = name === undefined ? [] : await this.memberships.listActive(holder.personId, tx);
      for (const { tenantId } of agents) await this.workspaces.lock(tx, tenantId);
      for (const { tenantId, agentId } of agents) await this.agents.lock(tx, tenantId, agentId);
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
