/**
 * People with a password and a second factor, their sessions, and the workspaces that they may enter, for a host that has
 * `MessagingModule` of `conversation-messaging-service`.
 *
 * A method for a person who is logged in takes a `Caller`: `callerOf(opened, origin)` of what
 * `LoginSessionsService.authenticate` returned. Pass the `origin` of the request everywhere: guesses are limited by its
 * `address`. Tokens are for cookies, and are stored as hashes.
 */
import 'reflect-metadata';

export { LoginsService } from './logins/logins.service';
export { LoginSessionsService } from './logins/login-sessions.service';
export { LoginLinksService } from './logins/login-links.service';
export { InvitationsService } from './logins/invitations.service';
export { AcceptancesService } from './logins/acceptances.service';
export { PasswordsService } from './logins/passwords.service';
export { PasswordResetsService } from './logins/password-resets.service';
export { AgentPasswordsService } from './logins/agent-passwords.service';
export { SecondFactorsService } from './logins/second-factors.service';
export { PeopleService } from './logins/people.service';
export { OperatorLoginsService } from './logins/operator-logins.service';
export { OperatorSessionsService } from './logins/operator-sessions.service';
export type { AgentLogin } from './logins/memberships.repository';
export {
  AcceptInvitation,
  BeginSecondFactor,
  callerOf,
  ChangePassword,
  ConfirmNewSecondFactor,
  ConfirmSecondFactor,
  InviteAgent,
  LOCALES,
  LogIn,
  PasswordAndCode,
  RequestPasswordReset,
  ResetPassword,
  THEMES,
  UpdatePerson,
  type Caller,
  type InvitationSummary,
  type Locale,
  type LoggedIn,
  type LoginLink,
  type LoginSession,
  type Membership,
  type NewSecondFactor,
  type OpenedSession,
  type Person,
  type RecoveryCodes,
  type RenewedSession,
  type SecondFactorRequired,
  type SentInvitation,
  type SentLink,
  type Theme,
} from './logins/login.dto';
