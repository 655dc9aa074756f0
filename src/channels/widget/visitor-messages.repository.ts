import { Injectable } from '@nestjs/common';
import { PageQuery } from '../../common/page';
import { Database } from '../../database/database';
import { PageStatement } from '../../database/page-statement';
import { MessageEntity } from '../../messages/message.entity';
import { ErasedIds } from '../../secrets/erased-ids';

/** What a visitor may know of a message. */
export type VisitorMessageRow = Pick<
  MessageEntity,
  'id' | 'senderType' | 'body' | 'createdAt' | 'deliveryStatus'
> & {
  /** By what name customers know its agent. */
  senderName: string | null;
  /** Of a visitor's own message, under which the client sent it. */
  providerId: string | null;
};

/** Of a table that the statement names `message`. */
export const VISITOR_MESSAGE = `
  message.id, message.sender_type AS "senderType", message.body, message.created_at AS "createdAt",
  message.delivery_status AS "deliveryStatus",
  (SELECT display_name FROM agents
   WHERE agents.tenant_id = message.tenant_id AND agents.id = message.sender_agent_id) AS "senderName",
  CASE WHEN message.sender_type = 'CUSTOMER' THEN (
    SELECT provider_id FROM provider_messages known
    WHERE known.tenant_id = message.tenant_id AND known.conversation_id = message.conversation_id
      AND known.message_id = message.id LIMIT 1
  ) END AS "providerId"`;

@Injectable()
export class VisitorMessagesRepository {
  constructor(
    private readonly database: Database,
    private readonly erasedIds: ErasedIds,
  ) {}

  /** Newest first: one more than a page, if there are as many. */
  list(
    tenantId: string,
    conversationId: string,
    { cursor, limit }: PageQuery,
    { withUnsent }: { withUnsent: boolean },
  ): Promise<VisitorMessageRow[]> {
    const page = new PageStatement(VISITOR_MESSAGE, 'messages message')
      .where('tenant_id = ?', tenantId)
      .where('conversation_id = ?', conversationId);
    if (!withUnsent) page.where(`coalesce(delivery_status, '') NOT IN ('QUEUED', 'SENDING')`);
    return page.read(this.database, cursor, limit + 1);
  }

  /** Also finds a message that was erased meanwhile. */
  async findByProviderId(
    tenantId: string,
    connectionId: string,
    providerId: string,
  ): Promise<VisitorMessageRow | null> {
    const [row] = await this.database.query<VisitorMessageRow>(
      `SELECT ${VISITOR_MESSAGE} FROM provider_messages stored
       JOIN messages message ON message.tenant_id = $1
         AND message.conversation_id = stored.conversation_id AND message.id = stored.message_id
       WHERE stored.tenant_id = $1 AND stored.connection_id = $2 AND stored.provider_id = ANY ($3)`,
      [tenantId, connectionId, this.erasedIds.addSubstitutes(connectionId, [providerId])],
    );
    return row ?? null;
  }
}

/** A visitor's message in the place of a provider's id. Unique over all visitors, because the client's id has no space. */
export function makeProviderId(externalId: string, clientMessageId: string): string {
  return `${externalId} ${clientMessageId}`;
}

/** Null for an agent's message, and for an erased one. */
export function readClientMessageId(providerId: string | null): string | null {
  if (providerId === null || ErasedIds.isErased(providerId)) return null;
  return providerId.slice(providerId.lastIndexOf(' ') + 1);
}
