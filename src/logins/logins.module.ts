import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { MetricsModule } from '../metrics/metrics.module';
import { RateLimitModule } from '../http/limits/rate-limit.module';
import { KeyRotationService } from '../secrets/key-rotation.service';
import { SecretsModule } from '../secrets/secrets.module';
import { TableRegistry } from '../database/tables/table-registry';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { AgentErasuresService } from './agent-erasures.service';
import { PersonExports } from './person-export';
import { InvitationAcceptance } from './invitations/invitation-acceptance';
import { InvitationUse } from './invitations/invitation-use';
import { InvitationsRepository } from './invitations/invitations.repository';
import { InvitationsService } from './invitations/invitations.service';
import { LinksService } from './links.service';
import { LinkMailer } from './links/link-mailer';
import { LinkRecipients } from './links/link-recipients';
import { LOGIN_TABLES } from './login-tables';
import { LoginsService } from './logins.service';
import { OperatorLoginsService } from './operator-logins.service';
import { PasswordCheck } from './passwords/password-check';
import { PasswordHasher } from './passwords/password-hasher';
import { PasswordResetsRepository } from './passwords/password-resets.repository';
import { PasswordsService } from './passwords/passwords.service';
import { PersonPassword } from './passwords/person-password';
import { ResetAcceptance } from './passwords/reset-acceptance';
import { PeopleService } from './people.service';
import { GuessLimits } from './people/guess-limits';
import { LoginAudit } from './people/login-audit';
import { Mailer } from './mails/mailer';
import { LoginNotices } from './people/login-notices';
import { MembershipsRepository } from './people/memberships.repository';
import { PeopleRepository } from './people/people.repository';
import { PersonSecondFactor } from './second-factor/person-second-factor';
import { SecondFactorDemandsRepository } from './second-factor/second-factor-demands.repository';
import { SecondFactorDemandsService } from './second-factor/second-factor-demands.service';
import { SecondFactorsRepository } from './second-factor/second-factors.repository';
import { SecondFactorsService } from './second-factor/second-factors.service';
import { SecondStep } from './second-factor/second-step';
import { KnownBrowsersRepository } from './sessions/known-browsers.repository';
import { LoginSessionsRepository } from './sessions/login-sessions.repository';
import { PendingLoginsRepository } from './sessions/pending-logins.repository';
import { PersonSessions } from './sessions/person-sessions';

const PEOPLE = [
  Mailer,
  PeopleRepository,
  MembershipsRepository,
  LoginAudit,
  LoginNotices,
  GuessLimits,
  PersonExports,
];
const SESSIONS = [LoginSessionsRepository, PendingLoginsRepository, KnownBrowsersRepository, PersonSessions];
const LINKS = [LinkMailer, LinkRecipients];
const PASSWORDS = [PasswordHasher, PasswordCheck, PasswordResetsRepository, PersonPassword, ResetAcceptance];
const SECOND_FACTOR = [
  SecondFactorsRepository,
  SecondFactorDemandsRepository,
  PersonSecondFactor,
  SecondStep,
];
const INVITATIONS = [InvitationsRepository, InvitationUse, InvitationAcceptance];

const SERVICES = [
  LoginsService,
  LinksService,
  InvitationsService,
  PasswordsService,
  SecondFactorsService,
  SecondFactorDemandsService,
  PeopleService,
  AgentErasuresService,
  OperatorLoginsService,
];

/**
 * Provides the services for people with passwords, for a dashboard's backend and the CLI. The REST API knows
 * only keys.
 */
@Module({
  imports: [AuditModule, MetricsModule, RateLimitModule, SecretsModule, WorkspacesModule],
  providers: [...PEOPLE, ...SESSIONS, ...LINKS, ...PASSWORDS, ...SECOND_FACTOR, ...INVITATIONS, ...SERVICES],
  exports: SERVICES,
})
export class LoginsModule {
  constructor(keyRotation: KeyRotationService, factors: SecondFactorsRepository, tables: TableRegistry) {
    tables.register(...LOGIN_TABLES);
    keyRotation.registerOther((count) => factors.reencryptStep(count));
  }
}
