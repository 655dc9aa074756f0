import { Injectable } from '@nestjs/common';
import { Channel } from '../../common/channel-descriptors';
import { isId } from '../../common/ids';
import { Database } from '../../database/database';
import { DeliveryErrorCode } from '../../common/message-status';
import { recipientOf, routeFault, routeOf } from './queue-conditions';

/** Reasons for which a message fails before it is sent to the provider. */
export type RouteFault = Extract<
  DeliveryErrorCode,
  'NO_CONNECTION' | 'REAUTH_REQUIRED' | 'NO_RECIPIENT' | 'ERASED'
>;

export interface Route {
  channel: Channel;
  contactId: string;
  recipientId: string | null;
  fault: RouteFault | null;
}

export interface Recent {
  /** Time of the customer's latest message among the messages that were read. */
  receivedAt: Date | null;
  /** Whether the query stopped at its maximum number of messages, so that older ones may exist. */
  isCut: boolean;
}

const MAX_CONVERSATIONS = 20;
const MAX_MESSAGES = 200;

const FIND_ROUTE = `
  SELECT c.source_channel AS channel, c.contact_id AS "contactId", ${recipientOf()} AS "recipientId",
         CASE WHEN k.erased_at IS NOT NULL THEN 'ERASED' ELSE ${routeFault()} END AS fault
  FROM conversations c JOIN contacts k ON k.tenant_id = $1 AND k.id = c.contact_id ${routeOf()}
  WHERE c.tenant_id = $1 AND c.id = $2`;

/**
 * Summarizes the latest conversations of contact $2 on channel $3 in workspace $1, from message id $4 on. One
 * conversation is not enough, because a provider's limit on replies applies to the person.
 */
const LIST_RECENT = `
  SELECT recent.* FROM (
    SELECT * FROM (
      SELECT id, source_channel FROM conversations
      WHERE tenant_id = $1 AND contact_id = $2 ORDER BY id DESC LIMIT ${MAX_CONVERSATIONS}) AS latest
    WHERE source_channel = $3) AS c, LATERAL (
    SELECT max(created_at) FILTER (WHERE sender_type = 'CUSTOMER') AS "receivedAt",
           count(*) = ${MAX_MESSAGES} AS "isCut"
    FROM (
      SELECT sender_type, created_at FROM messages
      WHERE tenant_id = $1 AND conversation_id = c.id AND id >= $4
      ORDER BY id DESC LIMIT ${MAX_MESSAGES}) AS newest) AS recent`;

@Injectable()
export class ReplyChecksRepository {
  constructor(private readonly database: Database) {}

  async findRoute(tenantId: string, conversationId: string): Promise<Route | null> {
    if (!isId(conversationId)) return null;
    const [route] = await this.database.prepared<Route>(FIND_ROUTE, [tenantId, conversationId]);
    return route ?? null;
  }

  /** Summarizes the contact's latest conversations on the channel, from message id `since` on. */
  listRecent(tenantId: string, { contactId, channel }: Route, since: string): Promise<Recent[]> {
    return this.database.prepared<Recent>(LIST_RECENT, [tenantId, contactId, channel, since]);
  }
}
