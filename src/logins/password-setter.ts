import { Injectable } from '@nestjs/common';
import { Transaction } from '../database/transaction';
import { KnownBrowsersRepository } from './known-browsers.repository';
import { PasswordResetsRepository } from './password-resets.repository';
import { PeopleRepository } from './people.repository';

/** Sets a new password. What the old one gave goes with it: links that would reset it, and browsers that it made known. */
@Injectable()
export class PasswordSetter {
  constructor(
    private readonly people: PeopleRepository,
    private readonly resets: PasswordResetsRepository,
    private readonly browsers: KnownBrowsersRepository,
  ) {}

  /** The caller holds the person's lock. */
  async set(tx: Transaction, personId: string, passwordHash: string): Promise<void> {
    await this.people.setPassword(tx, personId, passwordHash);
    await this.resets.deleteAll(tx, personId);
    await this.browsers.deleteAll(tx, personId);
  }
}
