import { Injectable } from '@nestjs/common';
import { idFloor, LOWEST_ID } from '../../common/ids';
import { Database } from '../../database/database';
import { WorkspaceServer } from '../../database/placement/placement';
import { Polls } from '../../queue/polling/polls';
import { Stretch, Stretches } from '../stretches';
import { AgentNoticesRepository, NoticeRecipient } from './agent-notices.repository';
import { NoticeMatter, NoticeWay, QuietMinutes } from './notice-choices.dto';
import { ListedChoices, NoticeChoicesRepository, STEP_AGENTS } from './notice-choices.repository';
import { NoticeDispatch } from './notice-dispatch';
import { MAX_OF_RECIPIENT, OwedNoticesRepository, Wish } from './owed-notices.repository';

const MINUTE_MS = 60_000;
/** Time by which two passes overlap, so that they find rows that commit late. */
const OVERLAP_MS = 10_000;
/** Shortest stretch that is searched: less than a multiple of a second, at which polls begin. */
const LEAST_MS = 1_500;
/** Number of times that a pass looks for more notices of a recipient. */
const MAX_ROUNDS = 20;

type Position = [tenantId: string, agentId: string];

const FIRST: Position = [LOWEST_ID, LOWEST_ID];

/**
 * Finds the notices that agents are owed. Each pass over the agents who have chosen notices searches the
 * messages and assignments that became old enough for each agent since the pass before.
 */
@Injectable()
export class OwedNotices {
  /** Stretches of time before each agent's own quiet time is taken away. */
  private readonly stretches = new Stretches();

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
    const stretch =
      after === FIRST ? this.stretches.begin(server.name, Date.now()) : this.stretches.read(server.name);
    if (stretch.until - stretch.since < LEAST_MS) return null;
    const listed = await this.choices.list(after, server);
    const wishes = listed.flatMap((choices) => ways.flatMap((way) => wishOf(choices, way, stretch) ?? []));
    await this.tell(server.name, wishes);
    const last = listed.at(-1);
    if (last && listed.length === STEP_AGENTS) return [last.tenantId, last.agentId];
    this.stretches.finish(server.name);
    return null;
  }

  /** Makes the notices that recipients are owed. Searches again for a recipient who may be owed more. */
  private async tell(server: string, wishes: Wish[]): Promise<void> {
    for (let left = wishes, n = 0; left.length > 0 && n < MAX_ROUNDS; n++) {
      const found = await this.owed.find(left);
      await this.stretches.workOn(server, found, (notices) =>
        this.database.queueTransaction((tx) => this.notices.add(tx, notices)),
      );
      const full = found.filter(({ length }) => length === MAX_OF_RECIPIENT);
      left = left.filter((wish) => full.some(([notice]) => isOf(notice!, wish)));
    }
  }
}

function isOf(notice: NoticeRecipient, { tenantId, agentId, way }: Wish): boolean {
  return notice.tenantId === tenantId && notice.agentId === agentId && notice.way === way;
}

function wishOf(choices: ListedChoices, way: NoticeWay, { since, until }: Stretch): Wish | null {
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
