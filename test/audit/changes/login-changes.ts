import { AuditService } from '../../../src/audit/audit.service';
import { Actor, Origin, SYSTEM } from '../../../src/access/principal';
import { LinksService } from '../../../src/logins/links.service';
import { SecondFactorRequired } from '../../../src/logins/sessions/session.dto';
import { LoginsService } from '../../../src/logins/logins.service';
import { OperatorLoginsService } from '../../../src/logins/operator-logins.service';
import { PeopleService } from '../../../src/logins/people.service';
import { PasswordsService } from '../../../src/logins/passwords/passwords.service';
import { SecondFactorsService } from '../../../src/logins/second-factor/second-factors.service';
import { MessagingHost } from '../../support/messaging-host';
import { codeOf, Logins, OTHER_PASSWORD, PASSWORD, tokenOf } from '../../support/logins';
import { Subscription } from '../../support/webhook-workspace';
import { Scenario } from './scenario';

/** Scenarios in which people change their own logins, and operators those of others. */
export function loginChanges(host: () => MessagingHost): Record<string, Scenario> {
  const logins = () => new Logins(host());
  /** Gives the subject's agent a login. */
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
    'agent.invitation_accepted': personal('LinksService.accept', async ({ workspace, agent }, origin) => {
      const token = await logins().invite(workspace, agent);
      return () => host().get(LinksService).accept(token, { password: PASSWORD }, origin);
    }),
    'agent.invitation_accepted, under a login that there is': personal(
      'LinksService.accept',
      async ({ workspace, agent }, origin) => {
        const elsewhere = await host().make.workspace();
        const { token: sessionToken } = await logins().member(elsewhere, { email: agent.email });
        const token = await logins().invite(workspace, agent);
        const given = { sessionToken, password: OTHER_PASSWORD };
        return () => host().get(LinksService).accept(token, given, origin);
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
    'agent.logged_out': personal('LoginsService.logOut', async (subject, origin) => {
      const { holder } = await memberOf(subject);
      return () =>
        host()
          .get(LoginsService)
          .logOut({ ...holder, origin });
    }),
    'agent.session_revoked': personal('LoginsService.revokeSession', async (subject, origin) => {
      const member = await memberOf(subject);
      const { sessionId } = await logins().session(member);
      return () =>
        host()
          .get(LoginsService)
          .revokeSession({ ...member.holder, origin }, sessionId);
    }),
    'agent.sessions_revoked': personal(
      'LoginsService.revokeOtherSessions',
      async (subject, origin) => {
        const member = await memberOf(subject);
        await logins().session(member);
        return () =>
          host()
            .get(LoginsService)
            .revokeOtherSessions({ ...member.holder, origin });
      },
      { count: 1 },
    ),
    'agent.renamed, with the login': personal('PeopleService.update', async (subject, origin) => {
      const { holder } = await memberOf(subject);
      return () =>
        host()
          .get(PeopleService)
          .update({ ...holder, origin }, { name: 'Ada Byron' });
    }),
    'agent.password_changed': personal('PasswordsService.change', async (subject, origin) => {
      const { holder } = await memberOf(subject);
      const given = { currentPassword: PASSWORD, newPassword: OTHER_PASSWORD };
      return () =>
        host()
          .get(PasswordsService)
          .change({ ...holder, origin }, given);
    }),
    'agent.password_reset': personal('LinksService.accept', async (subject, origin) => {
      const { agent } = await memberOf(subject);
      const resets = host().get(PasswordsService);
      const token = tokenOf((await resets.sendReset(subject.workspace.id, agent.id, SYSTEM)).link);
      return () => host().get(LinksService).accept(token, { password: OTHER_PASSWORD }, origin);
    }),
    'agent.second_factor_turned_on': personal('SecondFactorsService.confirm', async (subject, origin) => {
      const { holder } = await memberOf(subject);
      const factors = host().get(SecondFactorsService);
      const { secret } = await factors.begin(holder, { password: PASSWORD });
      return () => factors.confirm({ ...holder, origin }, { code: codeOf(secret) });
    }),
    'agent.second_factor_turned_off': personal('SecondFactorsService.turnOff', async (subject, origin) => {
      const { holder, secret } = await logins().secure(await memberOf(subject));
      const given = { password: PASSWORD, code: codeOf(secret) };
      return () =>
        host()
          .get(SecondFactorsService)
          .turnOff({ ...holder, origin }, given);
    }),
    'agent.recovery_codes_renewed': personal(
      'SecondFactorsService.renewRecoveryCodes',
      async (subject, origin) => {
        const { holder, secret } = await logins().secure(await memberOf(subject));
        const given = { password: PASSWORD, code: codeOf(secret) };
        return () =>
          host()
            .get(SecondFactorsService)
            .renewRecoveryCodes({ ...holder, origin }, given);
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
      'OperatorLoginsService.revokeSessions',
      (email, actor) => host().get(OperatorLoginsService).revokeSessions(email, undefined, actor),
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
