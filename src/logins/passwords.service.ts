import { Injectable } from '@nestjs/common';
import { validate } from '../common/validate';
import { Database } from '../database/database';
import { Callers } from './callers';
import { Caller, ChangePassword, RenewedSession } from './login.dto';
import { LoginAudit } from './login-audit';
import { PasswordCheck, requireSamePassword } from './password-check';
import { PasswordHasher } from './password-hasher';
import { requireGoodPassword } from './password-policy';
import { PasswordSetter } from './password-setter';

/** Changes passwords of people who are logged in. `PasswordResetsService` is for those who are not. */
@Injectable()
export class PasswordsService {
  constructor(
    private readonly database: Database,
    private readonly check: PasswordCheck,
    private readonly hasher: PasswordHasher,
    private readonly setter: PasswordSetter,
    private readonly callers: Callers,
    private readonly audit: LoginAudit,
  ) {}

  /**
   * Sets another password. The caller's session goes on under a new token; all others end.
   * @throws AppError INVALID_BODY: a wrong or a bad password; UNAUTHENTICATED, RATE_LIMITED, UNAVAILABLE
   */
  async change(caller: Caller, input: ChangePassword): Promise<RenewedSession> {
    const { currentPassword, newPassword } = validate(ChangePassword, input);
    const { personId, origin } = caller;
    const checked = await this.check.ofCaller(caller, currentPassword, 'currentPassword');
    requireGoodPassword(newPassword, checked.email, 'newPassword');
    const hash = await this.hasher.hash(newPassword, origin);
    return this.database.transaction(async (tx) => {
      requireSamePassword(checked, await this.callers.lock(tx, caller));
      await this.setter.set(tx, personId, hash);
      await this.audit.append(tx, personId, { action: 'password_changed', origin });
      return this.callers.renew(tx, caller);
    });
  }
}
