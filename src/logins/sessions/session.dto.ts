import { IsOptional } from 'class-validator';
import { type AgentRole } from '../../access/permissions';
import { type Origin } from '../../access/principal';
import { type WorkspaceEntity } from '../../workspaces/workspace.entity';
import { type Person } from '../people/person.dto';
import { IsToken, IsTyped } from '../people/typed-input';

/** Membership of a logged-in person in a workspace, in which the person is an active agent. */
export interface Membership {
  agentId: string;
  agentName: string;
  role: AgentRole;
  workspace: Pick<
    WorkspaceEntity,
    | 'id'
    | 'name'
    | 'slug'
    | 'planTier'
    | 'trialEndsAt'
    | 'rateLimit'
    | 'messageRetentionDays'
    | 'entitlements'
  > & {
    isSuspended: boolean;
    /** Days of grace for a person without a second factor; null if the workspace demands no second factor. */
    secondFactorGraceDays: number | null;
  };
  /** Time from which the workspace refuses the person for lack of a second factor; null for never. */
  lockedAt: Date | null;
}

/** Login of a person in one browser, until it is ended or expires. */
export interface LoginSession {
  id: string;
  createdAt: Date;
  /** Time of the last use, recorded at most once a minute. */
  lastUsedAt: Date;
  /** Time at which the session expires: 12 hours after the last use, and at most 30 days after the login. */
  expiresAt: Date;
  /** IP address of the client at the login. */
  address: string | null;
  /** `User-Agent` header of the login. */
  userAgent: string | null;
}

export interface OpenedSession {
  person: Person;
  session: LoginSession;
  /** Memberships that the session opens, sorted by the workspaces' names, without inactive agents. */
  memberships: Membership[];
  /** Memberships in workspaces that refuse the person for lack of a second factor. */
  lockedMemberships: Membership[];
  /**
   * Ids of the person's workspaces whose database server does not answer, so that it is unknown whether the
   * session opens them. Always empty if one server stores all workspaces, because then the request fails.
   */
  unreachableWorkspaceIds: string[];
}

/** Person who is logged in, as author of a change of their own login. `holderOf` returns one. */
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

/** New session. Store both tokens in cookies: they can't be read again. */
export interface LoggedIn {
  status: 'logged_in';
  personId: string;
  sessionId: string;
  token: string;
  /**
   * Token that identifies this browser at the person's next logins, for 180 days. Wrong passwords from a
   * known browser are counted separately. Null if the browser is known already.
   */
  browserToken: string | null;
}

/** Result of a login with the right password that needs a code of the second factor as well. */
export interface SecondFactorRequired {
  status: 'second_factor_required';
  /** Token for `LoginsService.confirmSecondFactor`, valid for five minutes. It opens no session. */
  pendingToken: string;
  expiresAt: Date;
}

/** New token of the holder's session. All other sessions of the person have ended. */
export interface RenewedSession {
  token: string;
}

export class LogIn {
  @IsTyped()
  email: string;

  @IsTyped()
  password: string;

  /** `browserToken` that this browser got at an earlier login. */
  @IsOptional()
  @IsToken()
  browserToken?: string;
}

export class ConfirmSecondFactor {
  @IsToken()
  pendingToken: string;

  /** Six digits from the person's authenticator app, or a recovery code. */
  @IsToken()
  code: string;

  /** `browserToken` that this browser got at an earlier login. */
  @IsOptional()
  @IsToken()
  browserToken?: string;
}
