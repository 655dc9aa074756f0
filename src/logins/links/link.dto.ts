import { IsIn, IsOptional, IsString } from 'class-validator';
import { AppError } from '../../common/app-error';
import { IsText } from '../../common/validators';
import { type Locale, LOCALES } from '../people/person.dto';
import { IsToken, IsTyped } from '../people/typed-input';
import { type LoggedIn, type RenewedSession } from '../sessions/session.dto';

/** Result of sending a link: it was mailed, or the caller must hand it over. */
export interface SentLink {
  isMailed: boolean;
  /** Link to hand over; null if it was mailed. It is as good as a password, and can't be read again. */
  link: string | null;
  expiresAt: Date;
}

/** Purpose of an unused link, for the page that the link opens. */
export interface LoginLink {
  kind: 'invitation' | 'reset';
  email: string;
  workspaceName: string | null;
  /** Name of the invited agent. Like `workspaceName`, it is null for the reset of a password. */
  agentName: string | null;
  /** Whether `LinksService.accept` needs a new password. */
  needsPassword: boolean;
  /** Whether `LinksService.accept` needs a session, because the e-mail address has a login already. */
  needsLogin: boolean;
}

/** Input of `LinksService.accept`. The link decides which fields are needed; the others are ignored. */
export class AcceptLink {
  /** New password of 12 to 200 characters, where the link needs one. */
  @IsOptional()
  @IsTyped()
  password?: string;

  /** Name of a new person; by default the name of the invited agent. */
  @IsOptional()
  @IsText(200)
  name?: string;

  /** Language of a new person; by default the one that the browser prefers. */
  @IsOptional()
  @IsIn(LOCALES)
  locale?: Locale;

  /** `browserToken` that this browser got at an earlier login. */
  @IsOptional()
  @IsToken()
  browserToken?: string;

  /** Token of the session in this browser, for a link that needs a login. */
  @IsOptional()
  @IsString()
  sessionToken?: string;
}

/** Result of an invitation that a person with a login has accepted. The session has a new token. */
export interface JoinedWorkspace extends RenewedSession {
  status: 'joined';
  tenantId: string;
  agentId: string;
}

/** Result of a password reset that was accepted. All sessions of the person have ended. */
export interface PasswordSet {
  status: 'password_set';
}

export type LinkOutcome = LoggedIn | JoinedWorkspace | PasswordSet;

export function linkGone(): AppError {
  return AppError.because('NOT_FOUND', 'link_gone');
}
