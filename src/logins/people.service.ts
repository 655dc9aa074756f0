import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { validate } from '../common/validate';
import { Database } from '../database/database';
import { PeopleRepository, toPerson } from './people/people.repository';
import { Person, UpdatePerson } from './people/person.dto';
import { PersonSessions } from './sessions/person-sessions';
import { SessionHolder } from './sessions/session.dto';

/** Reads and changes a person's name, language and theme. */
@Injectable()
export class PeopleService {
  constructor(
    private readonly database: Database,
    private readonly people: PeopleRepository,
    private readonly sessions: PersonSessions,
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
   * Changes the holder's name, language or theme. The names of agents, which customers see, stay.
   * @throws AppError INVALID_BODY, UNAUTHENTICATED
   */
  async update(holder: SessionHolder, input: UpdatePerson): Promise<Person> {
    const { name, locale, theme } = validate(UpdatePerson, input);
    return this.database.transaction(async (tx) => {
      const before = await this.sessions.lock(tx, holder);
      const after = {
        name: name ?? before.name,
        locale: locale === undefined ? before.locale : locale,
        theme: theme ?? before.theme,
      };
      await this.people.update(tx, before.id, after);
      return toPerson({ ...before, ...after });
    });
  }
}
