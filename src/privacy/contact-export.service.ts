import { Injectable } from '@nestjs/common';
import { MoreThan } from 'typeorm';
import { requirePermission } from '../access/require-permission';
import { AuditService } from '../audit/audit.service';
import { LOWEST_ID } from '../common/ids';
import { Actor } from '../common/principal';
import { ContactResponse } from '../contacts/contact.dto';
import { ContactsService } from '../contacts/contacts.service';
import { ConversationResponse, toConversation } from '../conversations/conversation.dto';
import { ConversationEntity } from '../conversations/conversation.entity';
import { Database } from '../database/database';
import { MessageResponse, toMessage } from '../messages/message.dto';
import { ListedMessage } from '../messages/messages.repository';

/** Rows of one statement. */
const PAGE = 200;

/** A line of an export, as JSON. */
export type ContactExportLine =
  | ({ type: 'contact' } & Omit<ContactResponse, 'identities'>)
  | ({ type: 'identity' } & ContactResponse['identities'][number])
  | ({ type: 'conversation' } & ConversationResponse)
  /** `metadata`: attachments, locations and the like, as the channel's provider sent them. */
  | ({ type: 'message'; conversationId: string; metadata: object | null } & MessageResponse);

type ExportedMessage = ListedMessage & { metadata: object | null };

/** Hands out what a workspace keeps of a person (GDPR, articles 15 and 20). */
@Injectable()
export class ContactExportService {
  constructor(
    private readonly database: Database,
    private readonly contacts: ContactsService,
    private readonly audit: AuditService,
  ) {}

  /**
   * A contact, their identities, and each of their conversations with its messages, oldest first. It reads 200 rows at a
   * time, when they are asked for, so it takes no more memory for a long history. The audit log gets an entry.
   * @throws AppError NOT_FOUND, FORBIDDEN, INVALID_BODY (the actor), all at the first line
   */
  async *export(tenantId: string, contactId: string, actor: Actor): AsyncGenerator<ContactExportLine> {
    const { identities, ...contact } = await this.contacts.get(tenantId, contactId);
    await this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'contact.export');
      const subject = { tenantId, actor, entity: 'contact', entityId: contactId };
      this.audit.appendPipelined(tx, { ...subject, action: 'contact.exported' });
    });
    yield { type: 'contact', ...contact };
    for (const identity of identities) yield { type: 'identity', ...identity };
    yield* this.conversationsOf(tenantId, contactId);
  }

  private async *conversationsOf(tenantId: string, contactId: string): AsyncGenerator<ContactExportLine> {
    for (let after: string | undefined = LOWEST_ID; after !== undefined;) {
      const page: ConversationEntity[] = await this.database.manager.find(ConversationEntity, {
        where: { tenantId, contactId, id: MoreThan(after) },
        order: { id: 'ASC' },
        take: PAGE,
      });
      for (const conversation of page) {
        yield { type: 'conversation', ...toConversation(conversation) };
        yield* this.messagesOf(conversation);
      }
      after = page.length < PAGE ? undefined : page.at(-1)!.id;
    }
  }

  private async *messagesOf({
    tenantId,
    id: conversationId,
  }: ConversationEntity): AsyncGenerator<ContactExportLine> {
    for (let after: string | undefined = LOWEST_ID; after !== undefined;) {
      const page: ExportedMessage[] = await this.database.query<ExportedMessage>(
        `SELECT id, sender_type AS "senderType", sender_agent_id AS "senderAgentId", body, created_at AS "createdAt",
                delivery_status AS "deliveryStatus", delivery_error AS "deliveryError", metadata
         FROM messages WHERE tenant_id = $1 AND conversation_id = $2 AND id > $3 ORDER BY id LIMIT ${PAGE}`,
        [tenantId, conversationId, after],
      );
      for (const { metadata, ...message } of page)
        yield { type: 'message', conversationId, ...toMessage(message), metadata };
      after = page.length < PAGE ? undefined : page.at(-1)!.id;
    }
  }
}
