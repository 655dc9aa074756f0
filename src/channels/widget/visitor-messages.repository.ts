import { Injectable } from '@nestjs/common';
import { PageQuery } from '../../common/page';
import { Database } from '../../database/database';
import { PageStatement } from '../../database/page-statement';
import { MessageEntity } from '../../messages/message.entity';
import { ErasedIds } from '../../secrets/erased-ids';

export type VisitorMessageRow = Pick<
  MessageEntity,
  | 'id'
  | 'conversationId'
  | 'senderType'
  | 'body'
  | 'createdAt'
  | 'deliveryStatus'
  | 'editedAt'
  | 'unsentAt'
  | 'attachmentCount'
  | 'isDescribed'
> & {
  senderName: string | null;
  /** Contains the id that the client gave the message; null for an agent's message. */
  providerId: string | null;
};

/** SQL columns of a VisitorMessageRow, from a table with the alias `message`. */
export const visitorMessage = (tenantId = '$1') => `
  message.id, message.conversation_id AS "conversationId", message.sender_type AS "senderType", message.body, message.created_at AS "createdAt",
  message.delivery_status AS "deliveryStatus", message.edited_at AS "editedAt", message.unsent_at AS "unsentAt",
  message.attachment_count AS "attachmentCount", message.is_described AS "isDescribed",
  (SELECT display_name FROM agents
   WHERE agents.tenant_id = ${tenantId} AND agents.id = message.sender_agent_id) AS "senderName",
  CASE WHEN message.sender_type = 'CUSTOMER' THEN (
    SELECT provider_id FROM provider_messages known
    WHERE known.tenant_id = ${tenantId} AND known.conversation_id = message.conversation_id
      AND known.message_id = message.id LIMIT 1
  ) END AS "providerId"`;

@Injectable()
export class VisitorMessagesRepository {
  constructor(
    private readonly database: Database,
    private readonly erasedIds: ErasedIds,
  ) {}

  /** Lists a page and one message more, newest first. `withUnsent` includes agents' messages not sent yet. */
  list(
    tenantId: string,
    conversationId: string,
    { cursor, limit }: PageQuery,
    { withUnsent }: { withUnsent: boolean },
  ): Promise<VisitorMessageRow[]> {
    const page = new PageStatement(visitorMessage(), 'messages message')
      .where('tenant_id = ?', tenantId)
      .where('conversation_id = ?', conversationId);
    if (!withUnsent) page.where(`coalesce(delivery_status, '') NOT IN ('QUEUED', 'SENDING')`);
    return page.read(this.database, cursor, limit + 1);
  }

  /** Finds a visitor's own message, even if it was erased. */
  async findByProviderId(
    tenantId: string,
    connectionId: string,
    providerId: string,
  ): Promise<VisitorMessageRow | null> {
    const [row] = await this.database.query<VisitorMessageRow>(
      `SELECT ${visitorMessage()} FROM provider_messages stored
       JOIN messages message ON message.tenant_id = $1
         AND message.conversation_id = stored.conversation_id AND message.id = stored.message_id
       WHERE stored.tenant_id = $1 AND stored.connection_id = $2 AND stored.provider_id = ANY ($3)`,
      [tenantId, connectionId, this.erasedIds.addSubstitutes(connectionId, [providerId])],
    );
    return row ?? null;
  }
}

/** Makes a message's provider id. It is unique over all visitors, because the client's id has no space. */
export function makeProviderId(externalId: string, clientMessageId: string): string {
  return `${externalId} ${clientMessageId}`;
}

/** Returns the client's id of a message; null for an agent's message and for an erased message. */
export function readClientMessageId(providerId: string | null): string | null {
  if (providerId === null || ErasedIds.isErased(providerId)) return null;
  return providerId.slice(providerId.lastIndexOf(' ') + 1);
}
