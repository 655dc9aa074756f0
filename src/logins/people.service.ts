import { Injectable } from '@nestjs/common';
import { AppError } from '../common/app-error';
import { validate } from '../common/validate';
import { Database } from '../database/database';
import { Callers } from './callers';
import { Caller, Person, UpdatePerson } from './login.dto';
import { PeopleRepository, toPerson } from './people.repository';

/** What people say of themselves. */
@Injectable()
export class PeopleService {
  constructor(
    private readonly database: Database,
    private readonly people: PeopleRepository,
    private readonly callers: Callers,
  ) {}

  /** @throws AppError NOT_FOUND */
  async get(id: string): Promise<Person> {
    const person = await this.people.find(id);
    if (!person) throw AppError.notFound('Person');
    return toPerson(person);
  }

  /**
   * Changes the caller's name, language or theme. The names of agents, which customers see, stay.
   * @throws AppError INVALID_BODY, UNAUTHENTICATED
   */
  async update(caller: Caller, input: UpdatePerson): Promise<Person> {
    const { name, locale, theme } = validate(UpdatePerson, input);
    return this.database.transaction(async (tx) => {
      const before = await this.callers.lock(tx, caller);
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
