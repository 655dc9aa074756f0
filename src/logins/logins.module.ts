import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { MailsModule } from '../mails/mails.module';
import { MetricsModule } from '../metrics/metrics.module';
import { RateLimitModule } from '../http/limits/rate-limit.module';
import { KeyRotationService } from '../secrets/key-rotation.service';
import { SecretsModule } from '../secrets/secrets.module';
import { TableRegistry } from '../database/tables/table-registry';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { AgentErasuresService } from './agent-erasures.service';
import { InvitationAcceptance } from './invitations/invitation-acceptance';
import { InvitationUse } from './invitations/invitation-use';
import { InvitationsRepository } from './invitations/invitations.repository';
import { InvitationsService } from './invitations/invitations.service';
import { LinksService } from './links.service';
import { LinkMailer } from './links/link-mailer';
import { LinkRecipients } from './links/link-recipients';
import { loginTables } from './login-tables';
import { LoginsService } from './logins.service';
import { OperatorLoginsService } from './operator-logins.service';
import { PasswordCheck } from './passwords/password-check';
import { PasswordHasher } from './passwords/password-hasher';
import { PasswordResetsRepository } from './passwords/password-resets.repository';
import { PasswordsService } from './passwords/passwords.service';
import { PersonPassword } from './passwords/person-password';
import { PeopleService } from './people.service';
import { GuessLimits } from './people/guess-limits';
import { LoginAudit } from './people/login-audit';
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
 * Provides the services for people who log in with a password, for a dashboard's backend and the CLI. The
 * REST API accepts API keys only.
 */
@Module({
  imports: [AuditModule, MailsModule, MetricsModule, RateLimitModule, SecretsModule, WorkspacesModule],
  providers: [
    ...SERVICES,
    PeopleRepository,
    MembershipsRepository,
    LoginAudit,
    GuessLimits,
    LoginSessionsRepository,
    PendingLoginsRepository,
    KnownBrowsersRepository,
    PersonSessions,
    LinkMailer,
    LinkRecipients,
    PasswordHasher,
    PasswordCheck,
    PasswordResetsRepository,
    PersonPassword,
    SecondFactorsRepository,
    SecondFactorDemandsRepository,
    PersonSecondFactor,
    SecondStep,
    InvitationsRepository,
    InvitationUse,
    InvitationAcceptance,
  ],
  exports: [...SERVICES, MembershipsRepository, PeopleRepository, PersonSessions],
})
export class LoginsModule {
  constructor(
    tables: TableRegistry,
    keyRotation: KeyRotationService,
    people: PeopleRepository,
    invitations: InvitationsRepository,
    factors: SecondFactorsRepository,
  ) {
    tables.register(...loginTables(people, invitations));
    keyRotation.registerOther((count) => factors.reencryptStep(count));
  }
}
