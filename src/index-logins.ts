/**
 * Exports logins of people with a password and a second factor, their sessions, and the workspaces that they
 * may enter, for a host that imports `MessagingModule` of `conversation-messaging-service`.
 *
 * Methods for a person who is logged in take a `SessionHolder`, which `holderOf(opened, origin)` makes from
 * an answer of `LoginsService.authenticate`. Pass the request's `origin` everywhere, because guesses are
 * limited by its `address`. Tokens are for cookies; the service stores only their hashes.
 */
import 'reflect-metadata';

// Logins and sessions.
export { LoginsService } from './logins/logins.service';
export {
  ConfirmSecondFactor,
  holderOf,
  LogIn,
  type LoggedIn,
  type LoginSession,
  type Membership,
  type OpenedSession,
  type RenewedSession,
  type SecondFactorRequired,
  type SessionHolder,
} from './logins/sessions/session.dto';

// Links by which people accept an invitation or reset a password.
export { LinksService } from './logins/links.service';
export { AcceptLink, type LinkOutcome, type LoginLink, type SentLink } from './logins/links/link.dto';
export { InvitationsService } from './logins/invitations/invitations.service';
export {
  InviteAgent,
  type InvitationSummary,
  type SentInvitation,
} from './logins/invitations/invitation.dto';

// A person's own login.
export { PasswordsService } from './logins/passwords/passwords.service';
export { ChangePassword, ConfirmPassword, RequestPasswordReset } from './logins/passwords/password.dto';
export { SecondFactorsService } from './logins/second-factor/second-factors.service';
export {
  BeginSecondFactor,
  ConfirmNewSecondFactor,
  PasswordAndCode,
  type NewSecondFactor,
  type RecoveryCodes,
} from './logins/second-factor/second-factor.dto';
export { SecondFactorDemandsService } from './logins/second-factor/second-factor-demands.service';
export { DemandSecondFactor, type SecondFactorDemand } from './logins/second-factor/second-factor-demand.dto';
export { PeopleService, type PersonExport } from './logins/people.service';
export {
  LOCALES,
  THEMES,
  UpdatePerson,
  type Locale,
  type Person,
  type Theme,
} from './logins/people/person.dto';

// Notices in the browser of a person's session.
export { PushAddressesService } from './notices/push/push-addresses.service';
export { SetPushAddress, TestPush, type PushState } from './notices/push/push-address.dto';

export { AgentErasuresService } from './logins/agent-erasures.service';

// For operators: the login of any person.
export { OperatorLoginsService } from './logins/operator-logins.service';
export type { AgentLogin } from './logins/people/people.repository';
