import { IsIn, IsOptional, IsString } from 'class-validator';
import { AppError } from '../../common/app-error';
import { IsText } from '../../common/validators';
import { type Locale, LOCALES } from '../people/person.dto';
import { IsToken, IsTyped } from '../people/typed-input';
import { type LoggedIn, type RenewedSession } from '../sessions/session.dto';

/** Way in which a link reaches the person whom it is for. */
export interface SentLink {
  isMailed: boolean;
  /** Link to hand over; null when it was mailed. Only this result holds it. It is as good as a password. */
  link: string | null;
  expiresAt: Date;
}

/** Purpose of a link that is not used yet. */
export interface LoginLink {
  kind: 'invitation' | 'reset';
  email: string;
  /** Name of the workspace of an invitation; null for a reset. */
  workspaceName: string | null;
  /** Name of the agent who is invited; null for a reset. */
  agentName: string | null;
  /** Whether `accept` needs a new password. */
  needsPassword: boolean;
  /** Whether `accept` needs a session, because the e-mail address has a login already. */
  needsLogin: boolean;
}

/** Input of `LinksService.accept`. The link decides which fields are needed; the others are ignored. */
export class AcceptLink {
  /** New password of 12 to 200 characters, where the link needs one. */
  @IsOptional()
  @IsTyped()
  password?: string;

  /** Name of a new person; the agent's by default. */
  @IsOptional()
  @IsText(200)
  name?: string;

  /** Language of a new person; by default the one that the browser prefers. */
  @IsOptional()
  @IsIn(LOCALES)
  locale?: Locale;

  /** `browserToken` of an earlier login in this browser. */
  @IsOptional()
  @IsToken()
  browserToken?: string;

  /** Token of the session in this browser, for a link that needs a login. */
  @IsOptional()
  @IsString()
  sessionToken?: string;
}

/**
 * Workspace that was added to the login of the person who accepted its invitation, and the person's session
 * under a new token.
 */
export interface JoinedWorkspace extends RenewedSession {
  status: 'joined';
  tenantId: string;
  agentId: string;
}

/** Password that was reset. All sessions of the person have ended. */
export interface PasswordSet {
  status: 'password_set';
}

/** Result of accepting a link. */
export type LinkOutcome = LoggedIn | JoinedWorkspace | PasswordSet;

export function linkGone(): AppError {
  return AppError.because('NOT_FOUND', 'link_gone');
}
