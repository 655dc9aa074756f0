import { Injectable } from '@nestjs/common';
import { requireReadPermission } from '../../access/require-permission';
import { AppError } from '../../common/app-error';
import { describeChannel } from '../../common/channel-descriptors';
import { idFloor } from '../../common/ids';
import { Actor } from '../../access/principal';
import { Database } from '../../database/database';
import { Recent, ReplyChecksRepository, RouteFault } from './reply-checks.repository';

const HOUR_MS = 60 * 60 * 1000;

/** Result that a reply would have if it were sent now. */
export interface ReplyCheck {
  /** Code with which the reply would fail before it reaches the provider; null if it would be sent. */
  fault: RouteFault | null;
  /**
   * Whether the provider accepts replies, as far as stored messages show: `closed` until the customer writes
   * again. A reply is sent in any case, because the provider decides. Null if the channel has no such limit,
   * if the reply would fail, or if the stored messages do not show it.
   */
  window: { status: 'open'; closesAt: Date } | { status: 'closed' } | null;
}

/** Reports whether a reply can be sent to its customer, before an agent writes it. */
@Injectable()
export class ReplyChecksService {
  constructor(
    private readonly database: Database,
    private readonly checks: ReplyChecksRepository,
  ) {}

  /**
   * Checks a reply by the rules that apply when a message is sent.
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

function windowOf(recent: Recent[], windowMs: number): ReplyCheck['window'] {
  const times = recent.flatMap(({ receivedAt }) => (receivedAt ? [receivedAt.getTime()] : []));
  if (times.length > 0) return { status: 'open', closesAt: new Date(Math.max(...times) + windowMs) };
  return recent.some(({ isCut }) => isCut) ? null : { status: 'closed' };
}
