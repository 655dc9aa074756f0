import { Injectable } from '@nestjs/common';
import { Origin } from '../../access/principal';
import { Config } from '../../config/config';
import { Transaction } from '../../database/transaction';
import { Mailer } from '../mails/mailer';
import { Notice, noticeMail } from './notice-texts';
import { PeopleRepository } from './people.repository';

/** Mails people what changed in their logins, where a mail server is configured. */
@Injectable()
export class LoginNotices {
  constructor(
    private readonly config: Config,
    private readonly mailer: Mailer,
    private readonly people: PeopleRepository,
  ) {}

  /**
   * Mails a notice after the transaction's commit, in the background. A failure is logged.
   * @param by null when an operator makes the change
   */
  sendOnCommit(tx: Transaction, personId: string, notice: Notice, by: Origin | null = {}): void {
    if (!this.mailer.isConfigured) return;
    const occasion = {
      at: new Date(),
      by: by && { address: by.address, userAgent: by.userAgent },
      appUrl: this.config.appUrl,
    };
    tx.onCommit(() =>
      this.mailer.sendInBackground('notices', async () => {
        const person = await this.people.find(personId);
        return person && { to: person.email, ...noticeMail(person.locale, notice, occasion) };
      }),
    );
  }
}
