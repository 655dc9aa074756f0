import { Injectable } from '@nestjs/common';
import { AlertNewsRepository } from '../../alerts/alert-news.repository';
import { AlertRow } from '../../alerts/alert.dto';
import { AgentKey } from '../../database/tables/table-declaration';
import { Transaction } from '../../database/transaction';
import { PeopleRepository } from '../../logins/people/people.repository';
import { Mail } from '../../mails/mailer';
import { alertMail } from './alert-mail';
import { AlertMailLinks } from './alert-mail-links';
import { AlertSubjectsRepository } from './alert-subjects.repository';
import { AlertMailboxesRepository, ClaimedMail } from './alert-mailboxes.repository';

/** Mail about alerts, with the ids of those that it names. */
export interface WrittenMail {
  mail: Mail;
  alertIds: string[];
}

/** Writes mails with the present state of their alerts. */
@Injectable()
export class AlertMailWriter {
  constructor(
    private readonly mailboxes: AlertMailboxesRepository,
    private readonly news: AlertNewsRepository,
    private readonly subjects: AlertSubjectsRepository,
    private readonly people: PeopleRepository,
    private readonly links: AlertMailLinks,
  ) {}

  /**
   * Writes a claimed mail.
   * @returns null if there is nothing to tell, or the agent is no manager any more or has no login
   */
  async write(tx: Transaction, agent: AgentKey, claimed: ClaimedMail): Promise<WrittenMail | null> {
    const alerts = await this.listWanted(tx, agent, claimed);
    if (alerts.length === 0) return null;
    const workspace = await this.mailboxes.findWorkspace(tx, agent);
    const person = workspace && (await this.people.findByAgent(tx, agent));
    if (!person) return null;
    const names = await this.subjects.listNames(tx, agent.tenantId, alerts);
    const links = this.links.make(agent, workspace.slug);
    const mail = {
      to: person.email,
      senderName: workspace.name,
      id: claimed.mailId,
      endUrl: links.end,
      ...alertMail(person.locale, workspace.name, alerts, names, links),
    };
    return { mail, alertIds: alerts.map(({ id }) => id) };
  }

  private async listWanted(
    tx: Transaction,
    { tenantId }: AgentKey,
    { isOn, mutedKinds, alertIds }: ClaimedMail,
  ): Promise<AlertRow[]> {
    if (!isOn) return [];
    const alerts = await this.news.list(tx, tenantId, alertIds);
    return alerts.filter(({ kind }) => !mutedKinds.includes(kind));
  }
}
