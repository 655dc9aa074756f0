import { Injectable } from '@nestjs/common';
import { idFloor, LOWEST_ID } from '../../common/ids';
import { Database } from '../../database/database';
import { WorkspaceServer } from '../../database/placement/placement';
import { Polls } from '../../queue/polling/polls';
import { AgentNoticesRepository } from './agent-notices.repository';
import { NoticeMatter, NoticeWay, QuietMinutes } from './notice-choices.dto';
import { ListedChoices, NoticeChoicesRepository, STEP_AGENTS } from './notice-choices.repository';
import { NoticeDispatch } from './notice-dispatch';
import { OwedNoticesRepository, Wish } from './owed-notices.repository';

const MINUTE_MS = 60_000;
/** Time before the start of a worker from which it searches, because none may have run meanwhile. */
const LOOK_BACK_MS = 6 * 60 * MINUTE_MS;
/** Longest stretch of time that one pass over the workspaces searches. */
const STRETCH_MS = 60 * MINUTE_MS;
/** Time by which two passes overlap, so that they find rows that commit late. */
const OVERLAP_MS = 10_000;
/** Shortest stretch of a pass: less than a multiple of a second, at which polls begin. */
const LEAST_MS = 1_500;

type Position = [tenantId: string, agentId: string];

const FIRST: Position = [LOWEST_ID, LOWEST_ID];

/** Stretch of time that a pass over the agents searches, before each agent's own quiet time is taken away. */
interface Pass {
  since: number;
  until: number;
}

/**
 * Finds the notices that agents are owed. Each pass over the agents who have chosen notices searches the
 * messages and assignments that became old enough for each agent since the pass before.
 */
@Injectable()
export class OwedNotices {
  private readonly passes = new Map<string, Pass>();

  constructor(
    polls: Polls,
    private readonly dispatch: NoticeDispatch,
    private readonly database: Database,
    private readonly choices: NoticeChoicesRepository,
    private readonly owed: OwedNoticesRepository,
    private readonly notices: AgentNoticesRepository,
  ) {
    polls.search('notices to agents', FIRST, (after, server) => this.step(after, server));
  }

  private async step(after: Position, server: WorkspaceServer): Promise<Position | null> {
    const ways = this.dispatch.listWays();
    // Nothing is found that could not go out, so nothing waits.
    if (ways.length === 0) return null;
    const pass = after === FIRST ? this.beginPass(server.name) : this.passes.get(server.name)!;
    if (!pass) return null;
    const listed = await this.choices.list(after, server);
    const wishes = listed.flatMap((choices) => ways.flatMap((way) => wishOf(choices, way, pass) ?? []));
    for (const notices of await this.owed.find(wishes))
      await this.database.queueTransaction((tx) => this.notices.add(tx, notices));
    const last = listed.at(-1);
    return last && listed.length === STEP_AGENTS ? [last.tenantId, last.agentId] : null;
  }

  /** Returns null if the pass before has come nearly up to now. */
  private beginPass(server: string): Pass | null {
    const newest = Date.now();
    const since = this.passes.get(server)?.until ?? newest - LOOK_BACK_MS;
    if (newest - since < LEAST_MS) return null;
    const pass = { since, until: Math.min(newest, since + STRETCH_MS) };
    this.passes.set(server, pass);
    return pass;
  }
}

function wishOf(choices: ListedChoices, way: NoticeWay, { since, until }: Pass): Wish | null {
  const { tenantId, agentId } = choices;
  const [matters, minutes]: [NoticeMatter[], QuietMinutes] =
    way === 'MAIL'
      ? [choices.mailMatters, choices.mailAfterMinutes]
      : [choices.pushMatters, choices.pushAfterMinutes];
  if (matters.length === 0 || (way === 'MAIL' && choices.mailRefusedAt !== null)) return null;
  const quietMs = minutes * MINUTE_MS;
  return {
    tenantId,
    agentId,
    way,
    mine: matters.includes('MINE'),
    nobodys: matters.includes('NOBODYS'),
    assignments: matters.includes('ASSIGNMENT'),
    since: idFloor(new Date(since - quietMs - OVERLAP_MS)),
    until: idFloor(new Date(until - quietMs)),
  };
}
