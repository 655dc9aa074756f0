import { IsIn, IsOptional, IsString } from 'class-validator';
import { AppError } from '../../common/app-error';
import { IsStorableText, MaxCharacters, NotBlank } from '../../common/validators';
import { type Locale, LOCALES } from '../people/person.dto';
import { IsToken, IsTyped } from '../people/typed-input';
import { type LoggedIn } from '../sessions/session.dto';

/** How a link reaches the person whom it is for. */
export interface SentLink {
  isMailed: boolean;
  /**
   * To be handed over, because only this result has it; null when it was mailed. It is as good as a password.
   */
  link: string | null;
  expiresAt: Date;
}

/** What a link is for, before anything is done with it. */
export interface LoginLink {
  kind: 'invitation' | 'reset';
  email: string;
  /** The workspace of an invitation; null for a reset. */
  workspaceName: string | null;
  /** Whether `accept` takes a password, to set. */
  needsPassword: boolean;
  /** Whether `accept` takes a session of this e-mail address, which has a login already. */
  needsLogin: boolean;
}

/** What `LinksService.accept` needs. Which of it depends on the link; the rest is ignored. */
export class AcceptLink {
  /** The new password of 12 to 200 characters, unless the link needs a login. */
  @IsOptional()
  @IsTyped()
  password?: string;

  /** The name of a new person; the agent's by default. */
  @IsOptional()
  @MaxCharacters(200)
  @NotBlank()
  @IsStorableText()
  name?: string;

  /** The language of a new person; by default what the browser prefers. */
  @IsOptional()
  @IsIn(LOCALES)
  locale?: Locale;

  /** The `browserToken` of an earlier login in this browser. */
  @IsOptional()
  @IsToken()
  browserToken?: string;

  /** The token of the session in this browser, for a link that needs a login. */
  @IsOptional()
  @IsString()
  sessionToken?: string;
}

/** A workspace added to the login of the person who accepted its invitation. */
export interface JoinedWorkspace {
  status: 'joined';
  tenantId: string;
  agentId: string;
}

/** A password reset. All sessions of the person have ended. */
export interface PasswordSet {
  status: 'password_set';
}

/** What accepting a link did. */
export type LinkOutcome = LoggedIn | JoinedWorkspace | PasswordSet;

export function linkGone(): AppError {
  return new AppError('NOT_FOUND', 'This link was used, replaced or taken back, or has expired.');
}
