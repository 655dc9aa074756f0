import { Injectable } from '@nestjs/common';
import { Actor, agentOf } from '../../access/principal';
import { requireAgent, requirePermission, requireReadPermission } from '../../access/require-permission';
import { ALERT_KINDS } from '../../alerts/alert-kinds';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import { AgentKey } from '../../database/tables/table-declaration';
import { Mailer } from '../../mails/mailer';
import { AlertMailChoice, UpdateAlertMailChoice } from './alert-mail-choice.dto';
import { AlertMailboxesRepository, MailChoice } from './alert-mailboxes.repository';

const ALL_KINDS: MailChoice = { isOn: true, mutedKinds: [] };

/** Stores of which kinds of alerts each OWNER and ADMIN gets mails. The dashboard shows all kinds anyway. */
@Injectable()
export class AlertMailChoicesService {
  constructor(
    private readonly database: Database,
    private readonly mailboxes: AlertMailboxesRepository,
    private readonly mailer: Mailer,
  ) {}

  /**
   * Returns the actor's choice; all kinds for an actor who has made none.
   * @throws AppError FORBIDDEN
   */
  async get(tenantId: string, actor: Actor): Promise<AlertMailChoice> {
    await requireReadPermission(this.database, tenantId, actor, 'alert.read');
    const agentId = agentOf(actor);
    return this.toResponse(agentId === null ? ALL_KINDS : await this.find({ tenantId, agentId }));
  }

  /**
   * Changes the actor's choice.
   * @throws AppError INVALID_BODY (also if the actor is no agent), FORBIDDEN
   */
  async update(tenantId: string, input: UpdateAlertMailChoice, actor: Actor): Promise<AlertMailChoice> {
    const changes = validate(UpdateAlertMailChoice, input);
    return this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'alert_mail.choose');
      const agent = { tenantId, agentId: requireAgent(actor) };
      const before = await this.find(agent);
      const after = {
        isOn: changes.isOn ?? before.isOn,
        mutedKinds: changes.mutedKinds ?? before.mutedKinds,
      };
      await this.mailboxes.setChoice(tx, agent, after);
      return this.toResponse(after);
    });
  }

  private async find(agent: AgentKey): Promise<MailChoice> {
    return (await this.mailboxes.findChoice(agent)) ?? ALL_KINDS;
  }

  private toResponse({ isOn, mutedKinds }: MailChoice): AlertMailChoice {
    const known = mutedKinds.filter((kind) => ALERT_KINDS.includes(kind));
    return { isAvailable: this.mailer.isConfigured, isOn, mutedKinds: known };
  }
}
