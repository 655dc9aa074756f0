import { AuditService } from '../../../../src/audit/audit.service';
import { Actor, Origin, SYSTEM } from '../../../../src/common/principal';
import { AcceptancesService } from '../../../../src/logins/acceptances.service';
import { AgentPasswordsService } from '../../../../src/logins/agent-passwords.service';
import { SecondFactorRequired } from '../../../../src/logins/login.dto';
import { LoginSessionsService } from '../../../../src/logins/login-sessions.service';
import { LoginsService } from '../../../../src/logins/logins.service';
import { OperatorLoginsService } from '../../../../src/logins/operator-logins.service';
import { OperatorSessionsService } from '../../../../src/logins/operator-sessions.service';
import { PasswordResetsService } from '../../../../src/logins/password-resets.service';
import { PasswordsService } from '../../../../src/logins/passwords.service';
import { SecondFactorsService } from '../../../../src/logins/second-factors.service';
import { Dashboard } from '../../../support/dashboard';
import { codeOf, Logins, OTHER_PASSWORD, PASSWORD, tokenOf } from '../../../support/logins';
import { Subscription } from '../../../support/webhook-workspace';
import { Scenario } from './scenario';

/** What people do to their own logins, and operators to those of others. */
export function loginChanges(host: () => Dashboard): Record<string, Scenario> {
  const logins = () => new Logins(host());
  /** The subject's agent, with a login. */
  const memberOf = ({ workspace, agent }: Subscription) => logins().accept(workspace, agent);
  const personal = (
    method: string,
    prepare: (subject: Subscription, origin: Origin | undefined) => Promise<() => Promise<unknown>>,
    metadata?: Record<string, unknown>,
  ): Scenario => ({
    method,
    permission: null,
    isPersonal: true,
    prepare: async (subject, { origin }) => {
      const act = await prepare(subject, origin);
      return async () => {
        await act();
        return { entity: 'agent', entityId: subject.agent.id, ...(metadata && { metadata }) };
      };
    },
  });
  const byOperator = (
    method: string,
    act: (email: string, actor: Actor) => Promise<unknown>,
    metadata?: Record<string, unknown>,
  ): Scenario => ({
    method,
    permission: null,
    prepare: async ({ workspace }, actor) => {
      const { agent, email } = await logins().secure(await logins().member(workspace));
      return async () => {
        await act(email, actor);
        return { entity: 'agent', entityId: agent.id, ...(metadata && { metadata }) };
      };
    },
  });
  return {
    'agent.invitation_accepted': personal(
      'AcceptancesService.accept',
      async ({ workspace, agent }, origin) => {
        const token = await logins().invite(workspace, agent);
        return () => host().get(AcceptancesService).accept(token, { password: PASSWORD }, origin);
      },
    ),
    'agent.invitation_accepted, under a login that there is': personal(
      'AcceptancesService.join',
      async ({ workspace, agent }, origin) => {
        const elsewhere = await host().make.workspace();
        const { caller } = await logins().member(elsewhere, { email: agent.email });
        const token = await logins().invite(workspace, agent);
        return () =>
          host()
            .get(AcceptancesService)
            .join(token, { ...caller, origin });
      },
    ),
    'agent.logged_in': personal('LoginsService.logIn', async (subject, origin) => {
      const { email } = await memberOf(subject);
      return () => host().get(LoginsService).logIn({ email, password: PASSWORD }, origin);
    }),
    'agent.logged_in, with a code': personal('LoginsService.confirmSecondFactor', async (subject, origin) => {
      const { email, secret } = await logins().secure(await memberOf(subject));
      const pending = (await logins().logIn({ email })) as SecondFactorRequired;
      const { pendingToken } = pending;
      return () =>
        host()
          .get(LoginsService)
          .confirmSecondFactor({ pendingToken, code: codeOf(secret) }, origin);
    }),
    'agent.recovery_code_used': personal('LoginsService.confirmSecondFactor', async (subject, origin) => {
      const { email, recoveryCodes } = await logins().secure(await memberOf(subject));
      const { pendingToken } = (await logins().logIn({ email })) as SecondFactorRequired;
      const code = recoveryCodes[0]!;
      return () => host().get(LoginsService).confirmSecondFactor({ pendingToken, code }, origin);
    }),
    'agent.logged_out': personal('LoginSessionsService.logOut', async (subject, origin) => {
      const { caller } = await memberOf(subject);
      return () =>
        host()
          .get(LoginSessionsService)
          .logOut({ ...caller, origin });
    }),
    'agent.session_revoked': personal('LoginSessionsService.revoke', async (subject, origin) => {
      const member = await memberOf(subject);
      const { sessionId } = await logins().session(member);
      return () =>
        host()
          .get(LoginSessionsService)
          .revoke({ ...member.caller, origin }, sessionId);
    }),
    'agent.sessions_revoked': personal(
      'LoginSessionsService.revokeOthers',
      async (subject, origin) => {
        const member = await memberOf(subject);
        await logins().session(member);
        return () =>
          host()
            .get(LoginSessionsService)
            .revokeOthers({ ...member.caller, origin });
      },
      { count: 1 },
    ),
    'agent.password_changed': personal('PasswordsService.change', async (subject, origin) => {
      const { caller } = await memberOf(subject);
      const given = { currentPassword: PASSWORD, newPassword: OTHER_PASSWORD };
      return () =>
        host()
          .get(PasswordsService)
          .change({ ...caller, origin }, given);
    }),
    'agent.password_reset': personal('PasswordResetsService.reset', async (subject, origin) => {
      const { agent } = await memberOf(subject);
      const resets = host().get(AgentPasswordsService);
      const token = tokenOf((await resets.sendReset(subject.workspace.id, agent.id, SYSTEM)).link);
      return () => host().get(PasswordResetsService).reset(token, { password: OTHER_PASSWORD }, origin);
    }),
    'agent.second_factor_turned_on': personal('SecondFactorsService.confirm', async (subject, origin) => {
      const { caller } = await memberOf(subject);
      const factors = host().get(SecondFactorsService);
      const { secret } = await factors.begin(caller, { password: PASSWORD });
      return () => factors.confirm({ ...caller, origin }, { code: codeOf(secret) });
    }),
    'agent.second_factor_turned_off': personal('SecondFactorsService.turnOff', async (subject, origin) => {
      const { caller, secret } = await logins().secure(await memberOf(subject));
      const given = { password: PASSWORD, code: codeOf(secret) };
      return () =>
        host()
          .get(SecondFactorsService)
          .turnOff({ ...caller, origin }, given);
    }),
    'agent.recovery_codes_renewed': personal(
      'SecondFactorsService.newRecoveryCodes',
      async (subject, origin) => {
        const { caller, secret } = await logins().secure(await memberOf(subject));
        const given = { password: PASSWORD, code: codeOf(secret) };
        return () =>
          host()
            .get(SecondFactorsService)
            .newRecoveryCodes({ ...caller, origin }, given);
      },
    ),
    'agent.password_reset_sent, by an operator': byOperator(
      'OperatorLoginsService.sendReset',
      (email, actor) => host().get(OperatorLoginsService).sendReset(email, actor),
    ),
    'agent.second_factor_turned_off, by an operator': byOperator(
      'OperatorLoginsService.turnOffSecondFactor',
      (email, actor) => host().get(OperatorLoginsService).turnOffSecondFactor(email, actor),
    ),
    'agent.sessions_revoked, by an operator': byOperator(
      'OperatorSessionsService.revoke',
      (email, actor) => host().get(OperatorSessionsService).revoke(email, undefined, actor),
      { count: 1 },
    ),
    'agent.logged_in, as a host records it': {
      method: 'AuditService.record',
      permission: 'audit_entry.record',
      prepare:
        ({ workspace, agent }, actor) =>
        async () => {
          const subject = { tenantId: workspace.id, entity: 'agent', entityId: agent.id };
          await host()
            .get(AuditService)
            .record({ ...subject, actor, action: 'agent.logged_in' });
          return subject;
        },
    },
  };
}
