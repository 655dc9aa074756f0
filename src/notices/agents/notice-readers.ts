import { Injectable } from '@nestjs/common';
import { Transaction } from '../../database/transaction';
import { PresenceService } from '../../inbox/presence/presence.service';
import { PeopleRepository } from '../../logins/people/people.repository';
import { MailLimit, MailLimits } from '../mail-limits';
import { NoticeRecipient } from './agent-notices.repository';
import { NoticeChoicesRepository } from './notice-choices.repository';
import { NoticeReader } from './notice-dispatch';

/** Limits of mails to agents. Above them, notices wait for an hour and go out together. */
const LIMIT: MailLimit = { kind: 'agent', toAddress: 100, ofWorkspace: 1_000 };

/** Knows the people behind agents: whether they are there, and whether they may get a notice now. */
@Injectable()
export class NoticeReaders {
  constructor(
    private readonly presence: PresenceService,
    private readonly people: PeopleRepository,
    private readonly choices: NoticeChoicesRepository,
    private readonly limits: MailLimits,
  ) {}

  /** Reports whether an agent uses the inbox now. False while Redis is down, so that nothing is kept back. */
  isThere(recipient: NoticeRecipient): Promise<boolean> {
    return this.presence.isActive(recipient);
  }

  /** Finds the person of an agent; null if the agent has no login. */
  find(tx: Transaction, recipient: NoticeRecipient): Promise<NoticeReader | null> {
    return this.people.findByAgent(tx, recipient);
  }

  /** Counts a notice. Returns false above the limit of mails: then none may be sent. */
  async countNotice({ tenantId, way }: NoticeRecipient, { email }: NoticeReader): Promise<boolean> {
    return way === 'PUSH' || this.limits.countMail(LIMIT, tenantId, email);
  }

  setMailRefused(tx: Transaction, recipient: NoticeRecipient): Promise<void> {
    return this.choices.setMailRefused(tx, recipient);
  }
}
