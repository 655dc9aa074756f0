import { Injectable } from '@nestjs/common';
import { requireOperator } from '../access/require-permission';
import { AppError } from '../common/app-error';
import { Actor } from '../common/principal';
import { Database } from '../database/database';
import { Callers } from './callers';
import { LoginSession } from './login.dto';
import { LoginAudit } from './login-audit';
import { LoginSessionsRepository } from './login-sessions.repository';
import { PeopleRepository } from './people.repository';

/** The sessions of any login: for operators alone. */
@Injectable()
export class OperatorSessionsService {
  constructor(
    private readonly database: Database,
    private readonly people: PeopleRepository,
    private readonly sessions: LoginSessionsRepository,
    private readonly callers: Callers,
    private readonly audit: LoginAudit,
  ) {}

  /**
   * Newest first.
   * @throws AppError NOT_FOUND
   */
  async list(email: string): Promise<LoginSession[]> {
    return this.sessions.list((await this.people.getByEmail(email)).id);
  }

  /**
   * Ends a session of a login, or all of them, with its pending logins.
   * @returns how many sessions ended
   * @throws AppError NOT_FOUND, FORBIDDEN
   */
  async revoke(email: string, sessionId: string | undefined, actor: Actor): Promise<{ revoked: number }> {
    requireOperator(actor, 'login.manage');
    const { id } = await this.people.getByEmail(email);
    return this.database.transaction(async (tx) => {
      await this.people.lock(tx, id);
      if (sessionId === undefined) {
        const revoked = await this.callers.endAll(tx, id);
        const metadata = { count: revoked };
        if (revoked > 0) await this.audit.append(tx, id, { action: 'sessions_revoked', by: actor, metadata });
        return { revoked };
      }
      if (!(await this.sessions.delete(tx, id, sessionId))) throw AppError.notFound('Session');
      await this.audit.append(tx, id, { action: 'session_revoked', by: actor });
      return { revoked: 1 };
    });
  }
}
