import { IsOptional } from 'class-validator';
import { type AgentRole, type Entitlement } from '../../access/permissions';
import { type Origin } from '../../access/principal';
import { type PlanTier } from '../../workspaces/plan-policy';
import { type Person } from '../people/person.dto';
import { IsToken, IsTyped } from '../people/typed-input';

/** Membership of a logged-in person in a workspace, in which the person is an active agent. */
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
    /** Days of grace, if the workspace demands a second factor of its people; null if it does not. */
    secondFactorGraceDays: number | null;
  };
  /**
   * Time at which the workspace locks the person out for want of a second factor; null when it demands none,
   * or the person has one.
   */
  lockedAt: Date | null;
}

/** Login in one browser, which ends when the person logs out, or when it is revoked or expires. */
export interface LoginSession {
  id: string;
  createdAt: Date;
  /** Time of the last use, to the minute. */
  lastUsedAt: Date;
  /** Time at which the session expires: 12 hours after the last use, and at most 30 days after the login. */
  expiresAt: Date;
  /** Address of the client at the login. */
  address: string | null;
  /** Browser at the login. */
  userAgent: string | null;
}

/** Session of a person, as its token opens it. */
export interface OpenedSession {
  person: Person;
  session: LoginSession;
  /** Memberships that the session opens, sorted by the workspaces' names, without inactive agents. */
  memberships: Membership[];
  /**
   * Memberships that the session does not open: their workspaces demand a second factor, which the person has
   * not turned on in time.
   */
  lockedMemberships: Membership[];
  /**
   * Ids of workspaces whose server does not answer, so that it is not known whether the session opens them.
   * There are none where one server has all workspaces: there the request fails.
   */
  unreachableWorkspaceIds: string[];
}

/** Person who is logged in and changes their own login. `holderOf(opened, origin)` makes one. */
export interface SessionHolder {
  personId: string;
  sessionId: string;
  origin?: Origin;
}

/** Returns the person of an opened session, for methods that change the person's own login. */
export function holderOf(
  { person, session }: Pick<OpenedSession, 'person' | 'session'>,
  origin?: Origin,
): SessionHolder {
  return { personId: person.id, sessionId: session.id, origin };
}

/** New session. Both tokens are for cookies, and can't be read again. */
export interface LoggedIn {
  status: 'logged_in';
  personId: string;
  sessionId: string;
  /** Token that opens the session. */
  token: string;
  /**
   * Token that makes this browser known for 180 days, so that its wrong passwords are counted apart from
   * those of other browsers; null when the browser is known already.
   */
  browserToken: string | null;
}

/** Login whose password was right, and which needs a code of the second factor. */
export interface SecondFactorRequired {
  status: 'second_factor_required';
  /** Token for `LoginsService.confirmSecondFactor`, valid for five minutes. It opens no session. */
  pendingToken: string;
  expiresAt: Date;
}

/** Holder's session under a new token. All other sessions of the person have ended. */
export interface RenewedSession {
  token: string;
}

export class LogIn {
  @IsTyped()
  email: string;

  @IsTyped()
  password: string;

  /** `browserToken` of an earlier login in this browser. */
  @IsOptional()
  @IsToken()
  browserToken?: string;
}

export class ConfirmSecondFactor {
  @IsToken()
  pendingToken: string;

  /** Six digits that the app shows, or a recovery code. */
  @IsToken()
  code: string;

  /** `browserToken` of an earlier login in this browser. */
  @IsOptional()
  @IsToken()
  browserToken?: string;
}
