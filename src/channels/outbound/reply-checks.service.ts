import { Injectable } from '@nestjs/common';
import { requireReadPermission } from '../../access/require-permission';
import { AppError } from '../../common/app-error';
import { describeChannel } from '../../common/channel-descriptors';
import { idFloor } from '../../common/ids';
import { Actor } from '../../access/principal';
import { Database } from '../../database/database';
import { Recent, ReplyChecksRepository, RouteFault } from './reply-checks.repository';

const HOUR_MS = 60 * 60 * 1000;

/** Fate of an answer, if it were sent now. */
export interface ReplyCheck {
  /**
   * Code with which the answer would fail before the channel is asked; null if the channel would be asked.
   */
  fault: RouteFault | null;
  /**
   * Time in which the channel takes answers: `open` until `closesAt`, or `closed` until the customer writes,
   * by the messages that are stored. The channel itself decides, so an answer is sent even then. Null for a
   * channel without such a limit, for an answer that would fail anyway, and when it is not known.
   */
  window: { status: 'open'; closesAt: Date } | { status: 'closed' } | null;
}

/** Tells whether an answer would reach its customer, before it is written. */
@Injectable()
export class ReplyChecksService {
  constructor(
    private readonly database: Database,
    private readonly checks: ReplyChecksRepository,
  ) {}

  /**
   * Checks the way of an answer to a conversation's customer, by the same rules by which messages are routed.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async get(tenantId: string, conversationId: string, actor: Actor): Promise<ReplyCheck> {
    await requireReadPermission(this.database, tenantId, actor, 'conversation.read');
    const route = await this.checks.findRoute(tenantId, conversationId);
    if (!route) throw AppError.notFound('Conversation');
    const { fault, channel, recipientId } = route;
    const { windowHours } = describeChannel(channel);
    if (fault !== null || recipientId === null || windowHours === undefined) return { fault, window: null };
    const windowMs = windowHours * HOUR_MS;
    const since = idFloor(new Date(Date.now() - windowMs));
    const recent = await this.checks.listRecent(tenantId, route, since);
    return { fault, window: windowOf(recent, windowMs) };
  }
}

/** Returns the window for answers, by the messages since its length. */
function windowOf(recent: Recent[], windowMs: number): ReplyCheck['window'] {
  const times = recent.flatMap(({ receivedAt }) => (receivedAt ? [receivedAt.getTime()] : []));
  if (times.length > 0) return { status: 'open', closesAt: new Date(Math.max(...times) + windowMs) };
  return recent.some(({ isCut }) => isCut) ? null : { status: 'closed' };
}
