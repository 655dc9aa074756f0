import { Injectable } from '@nestjs/common';
import { requireReadPermission } from '../access/require-permission';
import { AppError } from '../common/app-error';
import { Channel } from '../common/channel-descriptors';
import { isId, newId } from '../common/ids';
import { Page, toPage } from '../common/page';
import { Actor } from '../common/principal';
import { validate } from '../common/validate';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { Closable } from '../rate-limit/work-budget';
import { CreateContact, ListContactsQuery, NewIdentity, ContactResponse, toContact } from './contact.dto';
import { ContactIdentityEntity } from './contact-identity.entity';
import { ContactEntity } from './contact.entity';
import { toSearchable } from './contact-search';
import { ContactProfile, ContactsRepository } from './contacts.repository';

/** Person as a channel describes them. */
export interface ChannelCustomer {
  channel: Channel;
  /** Provider's id of the person. */
  externalId: string;
  name: string | null;
  phone: string | null;
}

/** Manages the people with whom a workspace talks. */
@Injectable()
export class ContactsService {
  constructor(
    private readonly database: Database,
    private readonly contacts: ContactsRepository,
  ) {}

  /**
   * Returns a page of contacts, newest first: 50 by default, 200 at most. `q` searches name, e-mail and
   * phone.
   * @param caller ends a search when it closes
   * @throws AppError INVALID_QUERY; FORBIDDEN; with `q`: RATE_LIMITED (too many searches of the workspace at
   *   once), UNAVAILABLE (too many in this process, or the search takes too long)
   */
  async list(
    tenantId: string,
    input: Partial<ListContactsQuery>,
    actor: Actor,
    caller?: Closable,
  ): Promise<Page<ContactResponse>> {
    const { q, cursor, limit } = validate(ListContactsQuery, input, 'INVALID_QUERY');
    await requireReadPermission(this.database, tenantId, actor, 'contact.read');
    const rows = await this.contacts.list(tenantId, { q, cursor }, limit + 1, caller);
    const ids = rows.slice(0, limit).map(({ id }) => id);
    const identities = ids.length > 0 ? await this.contacts.listIdentities(tenantId, ids) : [];
    return toPage(rows, limit, (contact) => toContact(contact, identities));
  }

  /**
   * Returns a contact with its identities.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async get(tenantId: string, id: string, actor: Actor): Promise<ContactResponse> {
    await requireReadPermission(this.database, tenantId, actor, 'contact.read');
    const contact = await this.contacts.find(tenantId, id);
    if (!contact) throw AppError.notFound('Contact');
    return toContact(contact, await this.contacts.listIdentities(tenantId, [id]));
  }

  /**
   * Creates a contact.
   * @throws AppError INVALID_BODY, also when another contact has the identity; NOT_FOUND (the workspace)
   */
  async create(tenantId: string, input: CreateContact): Promise<ContactResponse> {
    const { name = null, email = null, phone = null, identity } = validate(CreateContact, input);
    if (!isId(tenantId)) throw AppError.notFound('Workspace');
    const contact = newContact(tenantId, { name, email, phone });
    const identities = await this.database.transaction(async (tx) => {
      await this.contacts.insert(tx, contact);
      return identity ? [await this.addIdentity(tx, contact, identity)] : [];
    });
    return toContact(contact, identities);
  }

  /**
   * Finds the contact with this id on the channel, or creates one. Other transactions with the same id wait
   * until this one ends.
   * @returns the contact's id
   * @internal
   */
  async identify(tx: Transaction, tenantId: string, customer: ChannelCustomer): Promise<string> {
    const { channel, externalId, name, phone } = customer;
    const known = await this.contacts.lockIdentity(tx, tenantId, channel, externalId);
    if (known) return known.contactId;
    const contact = newContact(tenantId, { name, email: null, phone });
    await this.contacts.insert(tx, contact);
    const { id: contactId, createdAt } = contact;
    await this.contacts.insertIdentity(tx, { tenantId, channel, externalId, contactId, createdAt });
    return contactId;
  }

  /**
   * Updates a contact's profile. Values that the workspace's server has signed replace the contact's, and are
   * verified. Values that are only claimed fill those that are empty.
   * @internal
   */
  updateProfile(
    tx: Transaction,
    tenantId: string,
    contactId: string,
    profiles: { signed?: ContactProfile; claimed: ContactProfile },
  ): Promise<void> {
    return this.contacts.updateProfile(tx, tenantId, contactId, profiles);
  }

  private async addIdentity(
    tx: Transaction,
    { id: contactId, tenantId, createdAt }: ContactEntity,
    { channel, externalId }: NewIdentity,
  ): Promise<ContactIdentityEntity> {
    const known = await this.contacts.lockIdentity(tx, tenantId, channel, externalId);
    if (known) throw AppError.invalidBody('identity', 'identity_taken', { contact: known.contactId });
    const identity = { tenantId, channel, externalId, contactId, createdAt };
    await this.contacts.insertIdentity(tx, identity);
    return identity;
  }
}

function newContact(tenantId: string, known: Pick<ContactEntity, 'name' | 'email' | 'phone'>): ContactEntity {
  const now = new Date();
  return {
    id: newId(),
    tenantId,
    name: toSearchable(known.name),
    email: toSearchable(known.email),
    phone: known.phone,
    avatarUrl: null,
    verified: [],
    attributes: {},
    createdAt: now,
    updatedAt: now,
  };
}
