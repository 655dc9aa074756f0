import { Injectable } from '@nestjs/common';
import { Actor, agentOf } from '../../access/principal';
import { requireAgent, requirePermission, requireReadPermission } from '../../access/require-permission';
import { AppError } from '../../common/app-error';
import { validate } from '../../common/validate';
import { Database } from '../../database/database';
import { MembershipsRepository } from '../../logins/people/memberships.repository';
import { Mailer } from '../../mails/mailer';
import { PushSender } from '../push/push-sender';
import { ChooseNotices, NO_NOTICES, NoticeChoicesResponse } from './notice-choices.dto';
import { NoticeChoicesRepository, StoredChoices } from './notice-choices.repository';

/**
 * Stores of which conversations agents want notices while they are not there. A worker sends a notice when a
 * customer's message or an assignment has waited for the time that the agent has chosen, unless the agent has
 * looked at the conversation meanwhile or uses the inbox at that moment. An agent gets one notice of a
 * conversation until the agent looks at it or it no longer waits.
 */
@Injectable()
export class NoticeChoicesService {
  constructor(
    private readonly database: Database,
    private readonly choices: NoticeChoicesRepository,
    private readonly memberships: MembershipsRepository,
    private readonly mailer: Mailer,
    private readonly pushes: PushSender,
  ) {}

  /**
   * Returns the choices of the actor; notices are off until an agent chooses them.
   * @throws AppError FORBIDDEN
   */
  async get(tenantId: string, actor: Actor): Promise<NoticeChoicesResponse> {
    await requireReadPermission(this.database, tenantId, actor, 'notice_choice.read');
    const agentId = agentOf(actor);
    return this.toResponse(agentId === null ? null : await this.choices.find({ tenantId, agentId }));
  }

  /**
   * Changes the choices of the actor, who must be an agent with a login.
   * @throws AppError INVALID_BODY (also for an actor who is no agent), FORBIDDEN, NOT_FOUND (the login)
   */
  async set(tenantId: string, input: ChooseNotices, actor: Actor): Promise<NoticeChoicesResponse> {
    const { mailMatters, mailAfterMinutes, pushMatters, pushAfterMinutes } = validate(ChooseNotices, input);
    return this.database.transaction(async (tx) => {
      // This lock on the agent's row makes a deactivation wait, so that it deletes this row as well.
      await requirePermission(tx, tenantId, actor, 'notice_choice.set');
      const agent = { tenantId, agentId: requireAgent(actor) };
      if ((await this.memberships.findPersonId(tx, agent)) === null) throw AppError.notFound('Login');
      const before = (await this.choices.find(agent, tx)) ?? NO_NOTICES;
      const after = {
        mailMatters: mailMatters ?? before.mailMatters,
        mailAfterMinutes: mailAfterMinutes ?? before.mailAfterMinutes,
        pushMatters: pushMatters ?? before.pushMatters,
        pushAfterMinutes: pushAfterMinutes ?? before.pushAfterMinutes,
      };
      await this.choices.set(tx, agent, after);
      return this.toResponse({ ...after, mailRefusedAt: null });
    });
  }

  private toResponse(choices: StoredChoices | null): NoticeChoicesResponse {
    return {
      ...(choices ?? { ...NO_NOTICES, mailRefusedAt: null }),
      canMail: this.mailer.isConfigured,
      canPush: this.pushes.isConfigured,
    };
  }
}
