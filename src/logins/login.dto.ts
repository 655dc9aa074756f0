import { IsEmail, IsIn, IsOptional, IsString } from 'class-validator';
import { type AgentRole } from '../common/agent-role';
import { type Origin } from '../common/principal';
import { IsStorableText, MaxCharacters, NotBlank } from '../common/validators';
import { type Entitlement } from '../common/entitlement';
import { type PlanTier } from '../workspaces/plan-policy';

export const LOCALES = ['en', 'de'] as const;
export type Locale = (typeof LOCALES)[number];
export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

/** Longer than any token or code. */
const MAX_TOKEN = 200;
/** Longer than any password: the policy says how long one may be. */
const MAX_TYPED = 1_000;

/** Somebody who logs in: one login by e-mail, whatever the number of workspaces. */
export interface Person {
  id: string;
  /** In lower case. */
  email: string;
  name: string;
  /** Null: as the browser prefers. */
  locale: Locale | null;
  theme: Theme;
  hasSecondFactor: boolean;
}

/** What a person is in a workspace: an active agent of it. */
export interface Membership {
  agentId: string;
  agentName: string;
  role: AgentRole;
  workspace: {
    id: string;
    name: string;
    slug: string;
    planTier: PlanTier;
    trialEndsAt: Date | null;
    rateLimit: number | null;
    messageRetentionDays: number | null;
    entitlements: Entitlement[];
    isSuspended: boolean;
  };
}

/** A login on one browser, until it is logged out, revoked or expired. */
export interface LoginSession {
  id: string;
  createdAt: Date;
  /** To a minute. */
  lastUsedAt: Date;
  /** 12 hours after the last use, 30 days after the login at the latest. */
  expiresAt: Date;
  /** Of the login. */
  address: string | null;
  userAgent: string | null;
}

/** A person's session, as a token opens it. */
export interface OpenedSession {
  person: Person;
  session: LoginSession;
  /** By the workspaces' names. Those of inactive agents are left out. */
  memberships: Membership[];
}

/** Who does something to their own login. `callerOf(opened, origin)` makes one. */
export interface Caller {
  personId: string;
  sessionId: string;
  origin?: Origin;
}

/** The person of an opened session as the caller of a method. */
export function callerOf(
  { person, session }: Pick<OpenedSession, 'person' | 'session'>,
  origin?: Origin,
): Caller {
  return { personId: person.id, sessionId: session.id, origin };
}

/** A new session. Both tokens are for cookies: only this result has them. */
export interface LoggedIn {
  status: 'logged_in';
  personId: string;
  sessionId: string;
  /** Of the session. */
  token: string;
  /** Of this browser, for 180 days: its logins are limited apart from everybody else's. Null: it has one already. */
  browserToken: string | null;
}

/** The password was right; the code of the second factor is missing. */
export interface SecondFactorRequired {
  status: 'second_factor_required';
  /** For `confirmSecondFactor`, within five minutes. It opens nothing. */
  pendingToken: string;
  expiresAt: Date;
}

/** The caller's session goes on under a new token; all others of the person have ended. */
export interface RenewedSession {
  token: string;
}

export class LogIn {
  @MaxCharacters(MAX_TYPED)
  @IsString()
  email: string;

  @MaxCharacters(MAX_TYPED)
  @IsString()
  password: string;

  /** What this browser got at an earlier login. */
  @IsOptional()
  @MaxCharacters(MAX_TOKEN)
  @IsString()
  browserToken?: string;
}

export class ConfirmSecondFactor {
  @MaxCharacters(MAX_TOKEN)
  @IsString()
  pendingToken: string;

  /** Six digits of the app, or a recovery code. */
  @MaxCharacters(MAX_TOKEN)
  @IsString()
  code: string;

  @IsOptional()
  @MaxCharacters(MAX_TOKEN)
  @IsString()
  browserToken?: string;
}

export class AcceptInvitation {
  /** 12 to 200 characters. */
  @MaxCharacters(MAX_TYPED)
  @IsString()
  password: string;

  /** The agent's by default. */
  @IsOptional()
  @MaxCharacters(200)
  @NotBlank()
  @IsStorableText()
  name?: string;

  @IsOptional()
  @IsIn(LOCALES)
  locale?: Locale;

  @IsOptional()
  @MaxCharacters(MAX_TOKEN)
  @IsString()
  browserToken?: string;
}

export class InviteAgent {
  /** Of the mail; English by default. */
  @IsOptional()
  @IsIn(LOCALES)
  locale?: Locale;
}

export class RequestPasswordReset {
  @IsEmail({}, { message: 'must be an e-mail address' })
  email: string;
}

export class ResetPassword {
  /** 12 to 200 characters. */
  @MaxCharacters(MAX_TYPED)
  @IsString()
  password: string;
}

export class ChangePassword {
  @MaxCharacters(MAX_TYPED)
  @IsString()
  currentPassword: string;

  /** 12 to 200 characters. */
  @MaxCharacters(MAX_TYPED)
  @IsString()
  newPassword: string;
}

export class BeginSecondFactor {
  @MaxCharacters(MAX_TYPED)
  @IsString()
  password: string;
}

export class ConfirmNewSecondFactor {
  /** Six digits of the app. */
  @MaxCharacters(MAX_TOKEN)
  @IsString()
  code: string;
}

export class PasswordAndCode {
  @MaxCharacters(MAX_TYPED)
  @IsString()
  password: string;

  /** Six digits of the app, or a recovery code. */
  @MaxCharacters(MAX_TOKEN)
  @IsString()
  code: string;
}

/** A field that is left out does not change. */
export class UpdatePerson {
  @IsOptional()
  @MaxCharacters(200)
  @NotBlank()
  @IsStorableText()
  name?: string;

  /** Null: as the browser prefers. */
  @IsOptional()
  @IsIn(LOCALES)
  locale?: Locale | null;

  @IsOptional()
  @IsIn(THEMES)
  theme?: Theme;
}

/** An invitation that nobody has accepted yet. */
export interface InvitationSummary {
  id: string;
  agentId: string;
  agentName: string;
  email: string;
  role: AgentRole;
  createdAt: Date;
  /** 24 hours later. */
  expiresAt: Date;
}

/** How a link reaches the one it is for. */
export interface SentLink {
  /** Whether it was mailed. */
  isMailed: boolean;
  /** To be handed over, once; null when it was mailed. It is as good as a password. */
  link: string | null;
  expiresAt: Date;
}

export interface SentInvitation extends SentLink {
  invitation: InvitationSummary;
}

/** What a link is for, before anything is done with it. */
export interface LoginLink {
  kind: 'invitation' | 'reset';
  email: string;
  /** Of an invitation; null otherwise. */
  workspaceName: string | null;
  /** Whether it sets a password. */
  needsPassword: boolean;
  /** Whether one must be logged in under this e-mail address: it has a login already. */
  needsLogin: boolean;
}

/** A second factor that counts once a code of it has come. */
export interface NewSecondFactor {
  /** In base32, to be typed into an app. */
  secret: string;
  /** `otpauth://…`, to be shown as a QR code. */
  uri: string;
}

/** Ten codes, each good once in the place of a code of the app. They can't be read again. */
export interface RecoveryCodes {
  recoveryCodes: string[];
}
