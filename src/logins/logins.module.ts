import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { MetricsModule } from '../metrics/metrics.module';
import { RateLimitModule } from '../rate-limit/rate-limit.module';
import { KeyRotationService } from '../secrets/key-rotation.service';
import { SecretsModule } from '../secrets/secrets.module';
import { TableRegistry } from '../stored-data/table-registry';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { AcceptancesService } from './acceptances.service';
import { AgentPasswordsService } from './agent-passwords.service';
import { Callers } from './callers';
import { GuessLimits } from './guess-limits';
import { InvitationUse } from './invitation-use';
import { InvitationsRepository } from './invitations.repository';
import { InvitationsService } from './invitations.service';
import { KnownBrowsersRepository } from './known-browsers.repository';
import { LoginAgents } from './login-agents';
import { LoginAudit } from './login-audit';
import { LoginLinks } from './login-links';
import { LoginLinksService } from './login-links.service';
import { LoginSessionLookup } from './login-session-lookup';
import { LoginSessionsRepository } from './login-sessions.repository';
import { LoginSessionsService } from './login-sessions.service';
import { LOGIN_TABLES } from './login-tables';
import { LoginsService } from './logins.service';
import { Mailer } from './mailer';
import { MembershipsRepository } from './memberships.repository';
import { OperatorLoginsService } from './operator-logins.service';
import { OperatorSessionsService } from './operator-sessions.service';
import { PasswordCheck } from './password-check';
import { PasswordHasher } from './password-hasher';
import { PasswordResetsRepository } from './password-resets.repository';
import { PasswordResetsService } from './password-resets.service';
import { PasswordSetter } from './password-setter';
import { PasswordsService } from './passwords.service';
import { PendingLoginsRepository } from './pending-logins.repository';
import { PeopleRepository } from './people.repository';
import { PeopleService } from './people.service';
import { ResetTokens } from './reset-tokens';
import { SecondFactorCodes } from './second-factor-codes';
import { SecondFactors } from './second-factors';
import { SecondFactorsRepository } from './second-factors.repository';
import { SecondFactorsService } from './second-factors.service';
import { SecondStep } from './second-step';
import { SessionOpener } from './session-opener';

const SERVICES = [
  LoginsService,
  LoginSessionsService,
  LoginLinksService,
  InvitationsService,
  AcceptancesService,
  PasswordsService,
  PasswordResetsService,
  AgentPasswordsService,
  SecondFactorsService,
  PeopleService,
  OperatorLoginsService,
  OperatorSessionsService,
];

/** Who comes in: people with passwords, for a dashboard's backend. The service's own processes know API keys alone. */
@Module({
  imports: [AuditModule, MetricsModule, RateLimitModule, SecretsModule, WorkspacesModule],
  providers: [
    ...SERVICES,
    Callers,
    GuessLimits,
    InvitationUse,
    InvitationsRepository,
    KnownBrowsersRepository,
    LoginAgents,
    LoginAudit,
    LoginLinks,
    LoginSessionLookup,
    LoginSessionsRepository,
    Mailer,
    MembershipsRepository,
    PasswordCheck,
    PasswordHasher,
    PasswordResetsRepository,
    PasswordSetter,
    PendingLoginsRepository,
    PeopleRepository,
    ResetTokens,
    SecondFactorCodes,
    SecondFactors,
    SecondFactorsRepository,
    SecondStep,
    SessionOpener,
  ],
  exports: SERVICES,
})
export class LoginsModule {
  constructor(keyRotation: KeyRotationService, factors: SecondFactorsRepository, tables: TableRegistry) {
    tables.register(...LOGIN_TABLES);
    keyRotation.registerOther((count) => factors.reencryptStep(count));
  }
}
