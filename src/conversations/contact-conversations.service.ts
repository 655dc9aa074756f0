import { Injectable } from '@nestjs/common';
import { requireReadPermission } from '../access/require-permission';
import { AppError } from '../common/app-error';
import { isId } from '../common/ids';
import { Page, PageQuery } from '../common/page';
import { Actor } from '../access/principal';
import { validate } from '../common/validate';
import { ContactsRepository } from '../contacts/contacts.repository';
import { Database } from '../database/database';
import { ContactConversation, toContactConversation } from './active-conversation.dto';
import { ConversationListsRepository } from './conversation-lists.repository';

@Injectable()
export class ContactConversationsService {
  constructor(
    private readonly database: Database,
    private readonly contacts: ContactsRepository,
    private readonly lists: ConversationListsRepository,
  ) {}

  /**
   * Returns a page of a contact's conversations on all channels, latest activity first: 50 by default, 200 at
   * most. Only the newest 1,000 conversations are listed, which is more than a person has.
   * @throws AppError INVALID_QUERY, FORBIDDEN, NOT_FOUND
   */
  async list(
    tenantId: string,
    contactId: string,
    input: Partial<PageQuery>,
    actor: Actor,
  ): Promise<Page<ContactConversation>> {
    const { cursor, limit } = validate(PageQuery, input, 'INVALID_QUERY');
    await requireReadPermission(this.database, tenantId, actor, 'conversation.read');
    if (!isId(contactId)) throw AppError.notFound('Contact');
    const rows = await this.lists.listActiveOfContact({ tenantId, contactId }, cursor, limit + 1);
    // The contact is looked up only for an empty page, because a contact that has conversations exists.
    const contact = rows.length === 0 ? await this.contacts.find(tenantId, contactId) : { id: contactId };
    if (!contact) throw AppError.notFound('Contact');
    if (contact.id !== contactId) return this.list(tenantId, contact.id, input, actor);
    const shown = rows.slice(0, limit);
    const nextCursor = rows.length > limit ? shown.at(-1)!.activity : null;
    return { data: shown.map(toContactConversation), nextCursor };
  }
}
