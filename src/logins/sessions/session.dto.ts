import { IsOptional } from 'class-validator';
import { type AgentRole } from '../../common/agent-role';
import { type Origin } from '../../common/principal';
import { type Entitlement } from '../../common/entitlement';
import { type PlanTier } from '../../workspaces/plan-policy';
import { type Person } from '../people/person.dto';
import { IsToken, IsTyped } from '../people/typed-input';

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
  /** Exact to a minute. */
  lastUsedAt: Date;
  /** 12 hours after the last use, and at most 30 days after the login. */
  expiresAt: Date;
  /** The client's address at the login. */
  address: string | null;
  /** The browser at the login. */
  userAgent: string | null;
}

/** A person's session, as a token opens it. */
export interface OpenedSession {
  person: Person;
  session: LoginSession;
  /** Sorted by the workspaces' names. Inactive agents are left out. */
  memberships: Membership[];
}

/** A person who is logged in and does something to their own login. `holderOf(opened, origin)` makes one. */
export interface SessionHolder {
  personId: string;
  sessionId: string;
  origin?: Origin;
}

/** Returns the person of an opened session, for the methods that change the person's own login. */
export function holderOf(
  { person, session }: Pick<OpenedSession, 'person' | 'session'>,
  origin?: Origin,
): SessionHolder {
  return { personId: person.id, sessionId: session.id, origin };
}

/** A new session. Both tokens are for cookies, and can't be read again. */
export interface LoggedIn {
  status: 'logged_in';
  personId: string;
  sessionId: string;
  /** Opens the session. */
  token: string;
  /**
   * Makes this browser known for 180 days: its wrong passwords are counted apart from those of other
   * browsers. Null: the browser has one already.
   */
  browserToken: string | null;
}

/** A login whose password was right, and which waits for a code of the second factor. */
export interface SecondFactorRequired {
  status: 'second_factor_required';
  /** For `LoginsService.confirmSecondFactor`, within five minutes. It opens nothing. */
  pendingToken: string;
  expiresAt: Date;
}

/** The holder's session under a new token. All other sessions of the person have ended. */
export interface RenewedSession {
  token: string;
}

export class LogIn {
  @IsTyped()
  email: string;

  @IsTyped()
  password: string;

  /** The `browserToken` of an earlier login in this browser. */
  @IsOptional()
  @IsToken()
  browserToken?: string;
}

export class ConfirmSecondFactor {
  @IsToken()
  pendingToken: string;

  /** Six digits of the app, or a recovery code. */
  @IsToken()
  code: string;

  /** The `browserToken` of an earlier login in this browser. */
  @IsOptional()
  @IsToken()
  browserToken?: string;
}
