import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { ExportedMembership, MembershipsRepository } from './people/memberships.repository';
import { PeopleRepository, PersonTimes, toPerson } from './people/people.repository';
import { Person } from './people/person.dto';
import { KnownBrowser, KnownBrowsersRepository } from './sessions/known-browsers.repository';
import { PersonSessions } from './sessions/person-sessions';
import { LoginSession } from './sessions/session.dto';

/** Everything that is stored about a person's login, without secrets and their hashes. */
export interface PersonExport {
  person: Person & PersonTimes;
  /** All agents that the person is, inactive ones included. */
  memberships: ExportedMembership[];
  sessions: LoginSession[];
  knownBrowsers: KnownBrowser[];
}

/** Reads what is stored about a person. */
@Injectable()
export class PersonExports {
  constructor(
    private readonly people: PeopleRepository,
    private readonly memberships: MembershipsRepository,
    private readonly sessions: PersonSessions,
    private readonly browsers: KnownBrowsersRepository,
  ) {}

  /**
   * Returns everything about a person.
   * @throws AppError NOT_FOUND
   */
  async get(personId: string): Promise<PersonExport> {
    const [person, times] = [await this.people.find(personId), await this.people.findTimes(personId)];
    if (!person || !times) throw AppError.notFound('Person');
    return {
      person: { ...toPerson(person), ...times },
      memberships: await this.memberships.listForExport(personId),
      sessions: await this.sessions.list(personId),
      knownBrowsers: await this.browsers.list(personId),
    };
  }
}
