import { TOTP } from 'otpauth';
import { Origin, SYSTEM } from '../../src/access/principal';
import { LinksService } from '../../src/logins/links.service';
import { InvitationsService } from '../../src/logins/invitations/invitations.service';
import { LoggedIn, SecondFactorRequired, SessionHolder } from '../../src/logins/sessions/session.dto';
import { LoginsService } from '../../src/logins/logins.service';
import { SecondFactorsService } from '../../src/logins/second-factor/second-factors.service';
import { CreateAgent } from '../../src/workspaces/agent.dto';
import { AgentEntity } from '../../src/workspaces/agent.entity';
import { MessagingHost } from './messaging-host';
import { letTimePass } from './wait';

export const PASSWORD = 'Zwölf grüne Gurken';
export const OTHER_PASSWORD = 'Thirteen red radishes';

const STEP_MS = 30_000;

/** An agent who has a login. */
export interface Member extends LoggedIn {
  agent: AgentEntity;
  email: string;
  password: string;
  holder: SessionHolder;
}

/** Gives agents their logins, as a dashboard's backend does. */
export class Logins {
  private networks = 0;

  constructor(private readonly host: MessagingHost) {}

  /** Returns the origin of a client that no limit has counted yet. */
  origin(): Origin {
    this.networks += 1;
    return { address: `10.${(this.networks >> 8) & 255}.${this.networks & 255}.7`, userAgent: 'Firefox' };
  }

  async invite({ id }: { id: string }, agent: { id: string }): Promise<string> {
    const { link } = await this.host.get(InvitationsService).invite(id, agent.id, {}, SYSTEM);
    return tokenOf(link);
  }

  /** Creates an agent and accepts the invitation. */
  async member(workspace: { id: string }, input: Partial<CreateAgent> = {}): Promise<Member> {
    return this.accept(workspace, await this.host.make.agent(workspace, input));
  }

  /** Accepts an agent's invitation. */
  async accept(workspace: { id: string }, agent: AgentEntity): Promise<Member> {
    const token = await this.invite(workspace, agent);
    const given = { password: PASSWORD };
    const loggedIn = await this.host.get(LinksService).accept(token, given, this.origin());
    return this.memberOf(agent, loggedIn as LoggedIn);
  }

  /** Makes the member an agent of another workspace too, under a new password and a new token. */
  async join(
    member: Member,
    workspace: { id: string },
    input: Partial<CreateAgent> = {},
  ): Promise<AgentEntity> {
    const agent = await this.host.make.agent(workspace, { ...input, email: member.email });
    const token = await this.invite(workspace, agent);
    member.password = `${OTHER_PASSWORD} ${agent.id}`;
    const given = { sessionToken: member.token, password: member.password };
    const joined = await this.host.get(LinksService).accept(token, given, this.origin());
    Object.assign(member, joined);
    return agent;
  }

  logIn(
    { email, password: own = PASSWORD }: { email: string; password?: string },
    password = own,
    { browserToken, origin = this.origin() }: { browserToken?: string; origin?: Origin } = {},
  ): Promise<LoggedIn | SecondFactorRequired> {
    return this.host.get(LoginsService).logIn({ email, password, browserToken }, origin);
  }

  /** Logs in with the password alone. */
  async session(member: Member): Promise<Member> {
    return this.memberOf(member.agent, (await this.logIn(member)) as LoggedIn);
  }

  authenticate(token: string) {
    return this.host.get(LoginsService).authenticate(token);
  }

  isOpen(token: string): Promise<boolean> {
    return this.authenticate(token).then((opened) => opened !== null);
  }

  /** Turns a second factor on. */
  async secure(member: Member): Promise<Member & { secret: string; recoveryCodes: string[] }> {
    const factors = this.host.get(SecondFactorsService);
    const { secret } = await factors.begin(member.holder, { password: PASSWORD });
    const confirmed = await factors.confirm(member.holder, { code: codeOf(secret) });
    // The code of the present step was used for turning on. This lets a login use it too.
    await this.host.query('UPDATE second_factors SET last_step = 0 WHERE person_id = $1', [member.personId]);
    return { ...member, secret, ...confirmed };
  }

  private memberOf(agent: AgentEntity, loggedIn: LoggedIn): Member {
    const { personId, sessionId } = loggedIn;
    const holder = { personId, sessionId, origin: this.origin() };
    return { ...loggedIn, agent, email: agent.email, password: PASSWORD, holder };
  }
}

/** Returns the token behind the # of a link. */
export function tokenOf(link: string | null): string {
  const token = link?.split('#')[1];
  if (!token) throw new Error(`no link: ${link}`);
  return token;
}

/** Returns the code that an authenticator app shows, `steps` steps from now. */
export function codeOf(secret: string, steps = 0): string {
  return new TOTP({ secret }).generate({ timestamp: Date.now() + steps * STEP_MS });
}

/** Waits for the next step if this one is nearly over, so that a code does not expire during the test. */
export async function withinStep(): Promise<void> {
  const leftMs = STEP_MS - (Date.now() % STEP_MS);
  if (leftMs < 10_000) await letTimePass(leftMs);
}
