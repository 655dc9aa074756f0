import { Injectable } from '@nestjs/common';
import { requirePermission, requireReadPermission } from '../access/require-permission';
import { AuditService } from '../audit/audit.service';
import { changedValues } from '../audit/changed-values';
import { AppError } from '../common/app-error';
import { Channel } from '../common/channel-descriptors';
import { isId, newId } from '../common/ids';
import { Page, toPage } from '../common/page';
import { Actor, SYSTEM } from '../common/principal';
import { validate } from '../common/validate';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { IdempotencyService } from '../idempotency/idempotency.service';
import { IdempotentRequest } from '../idempotency/idempotent-request';
import { EventData } from '../outbox/event-catalog';
import { EventlessChanges } from '../outbox/eventless-changes';
import { OutboxService } from '../outbox/outbox.service';
import { Closable } from '../common/work-budget';
import {
  ContactDetail,
  CreateContact,
  ListContactsQuery,
  ContactResponse,
  toContact,
  toContactDetail,
  UpdateContact,
} from './contact.dto';
import { ContactEntity } from './contact.entity';
import { ContactIdentityEntity } from './contact-identity.entity';
import { toStored } from './contact-search';
import { ContactProfile, ContactsRepository } from './contacts.repository';

/** Person as a channel describes them. */
export interface ChannelCustomer {
  channel: Channel;
  /** Provider's id of the person. */
  externalId: string;
  name: string | null;
  phone: string | null;
}

/** Fields that a person can edit. */
const EDITABLE = ['name', 'email', 'phone', 'attributes'] as const;

/** Manages the people with whom a workspace talks. */
@Injectable()
export class ContactsService {
  constructor(
    private readonly database: Database,
    private readonly contacts: ContactsRepository,
    private readonly audit: AuditService,
    private readonly outbox: OutboxService,
    private readonly changes: EventlessChanges,
    private readonly idempotency: IdempotencyService,
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
    return toContact(await this.find(tenantId, id), await this.contacts.listIdentities(tenantId, [id]));
  }

  /**
   * Returns a contact with its identities, and whether it is erased.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async getDetail(tenantId: string, id: string, actor: Actor): Promise<ContactDetail> {
    await requireReadPermission(this.database, tenantId, actor, 'contact.read');
    const contact = await this.find(tenantId, id);
    return toContactDetail(contact, await this.contacts.listIdentities(tenantId, [id]));
  }

  /**
   * Creates a contact, with its `contact.created`. The audit log gets an entry, unless the system is the
   * actor. A repeated request gets the contact that the first one has created, as it is by now: no copy of it
   * is kept.
   * @throws AppError INVALID_BODY, also when another contact has the identity; FORBIDDEN; NOT_FOUND (the
   *   workspace); IDEMPOTENCY_CONFLICT
   */
  async create(
    tenantId: string,
    input: CreateContact,
    actor: Actor,
    request: IdempotentRequest | null = null,
  ): Promise<ContactResponse> {
    const {
      name = null,
      email = null,
      phone = null,
      attributes = {},
      identity,
    } = validate(CreateContact, input);
    if (!isId(tenantId)) throw AppError.notFound('Workspace');
    const contact = newContact(tenantId, { name, email, phone, attributes });
    const { id: contactId, createdAt } = contact;
    const identities = identity ? [{ tenantId, ...identity, contactId, createdAt }] : [];
    const { id } = await this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'contact.create');
      return this.idempotency.once(tx, { tenantId, conversationId: null }, request, async () => {
        await this.contacts.insert(tx, contact);
        if (actor.type !== 'system')
          this.audit.appendPipelined(tx, { ...subjectOf(contact, actor), action: 'contact.created' });
        for (const one of identities) await this.addIdentity(tx, one);
        this.tellCreatedPipelined(tx, contact, identities);
        return { id: contactId };
      });
    });
    return id === contactId ? toContact(contact, identities) : this.get(tenantId, id, SYSTEM);
  }

  /**
   * Changes a contact's name, e-mail address, phone or attributes, with one `contact.updated`. A value that
   * the workspace's server has signed is verified no longer once it is changed, until the server signs one
   * again. The audit log names the changed fields, and none of their values, because it outlives the contact.
   * @throws AppError INVALID_BODY, also without a field to change; CONFLICT: the contact was changed since
   *   `updatedAt`, or is erased; FORBIDDEN; NOT_FOUND
   */
  async update(tenantId: string, id: string, input: UpdateContact, actor: Actor): Promise<ContactResponse> {
    const { updatedAt, ...given } = validate(UpdateContact, input);
    if (EDITABLE.every((field) => given[field] === undefined))
      throw new AppError('INVALID_BODY', `Name at least one of ${EDITABLE.join(', ')}.`);
    return this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'contact.update');
      const before = await this.contacts.lock(tx, tenantId, id);
      if (!before) throw AppError.notFound('Contact');
      if (before.erasedAt) throw AppError.because('CONFLICT', 'contact_erased');
      const after = edit(before, given);
      const identities = await this.contacts.listIdentitiesIn(tx, tenantId, id);
      const fields = EDITABLE.filter((field) => changedValues(before, after, [field]));
      // A repeated request finds what it has changed.
      if (fields.length === 0) return toContact(before, identities);
      if (updatedAt && before.updatedAt.getTime() !== updatedAt.getTime())
        throw AppError.because('CONFLICT', 'contact_edited');
      const unverified = changedValues(before, after, ['verified']);
      await this.contacts.update(tx, tenantId, after);
      this.audit.appendPipelined(tx, {
        ...subjectOf(after, actor),
        action: 'contact.updated',
        ...unverified,
        metadata: { fields },
      });
      const changed = [...fields, ...(unverified ? (['verified'] as const) : [])];
      const updated = toContact(after, identities);
      this.tellUpdatedPipelined(tx, tenantId, changed, updated);
      return updated;
    });
  }

  /**
   * Finds the contact with this id on the channel, or creates one, with its `contact.created`. Other
   * transactions with the same id wait until this one ends.
   * @returns the contact's id
   * @internal
   */
  async identify(tx: Transaction, tenantId: string, customer: ChannelCustomer): Promise<string> {
    const { channel, externalId, name, phone } = customer;
    const known = await this.contacts.lockIdentity(tx, tenantId, channel, externalId);
    if (known) return known.contactId;
    const contact = newContact(tenantId, { name, email: null, phone, attributes: {} });
    await this.contacts.insert(tx, contact);
    const { id: contactId, createdAt } = contact;
    const identity = { tenantId, channel, externalId, contactId, createdAt };
    await this.contacts.insertIdentity(tx, identity);
    this.tellCreatedPipelined(tx, contact, [identity]);
    return contactId;
  }

  /**
   * Locks identities on a channel until the transaction ends, as `identify` does, and returns the contacts
   * that have them.
   * @internal
   */
  async lockIdentities(
    tx: Transaction,
    tenantId: string,
    channel: Channel,
    externalIds: string[],
  ): Promise<string[]> {
    const contactIds: string[] = [];
    for (const externalId of [...new Set(externalIds)].sort()) {
      const identity = await this.contacts.lockIdentity(tx, tenantId, channel, externalId);
      if (identity) contactIds.push(identity.contactId);
    }
    return contactIds;
  }

  /**
   * Updates a contact's profile, with one `contact.updated` if it changes. Values that the workspace's server
   * has signed replace the contact's, and are verified. Values that are only claimed fill those that are
   * empty. An erased contact stays as it is.
   * @internal
   */
  async updateProfile(
    tx: Transaction,
    tenantId: string,
    contactId: string,
    profiles: { signed?: ContactProfile; claimed: ContactProfile },
  ): Promise<void> {
    const updated = await this.contacts.updateProfile(tx, tenantId, contactId, profiles);
    if (!updated) return;
    this.changes.note(tx, tenantId, { contactId });
    const identities = await this.contacts.listIdentitiesIn(tx, tenantId, contactId);
    this.tellUpdatedPipelined(tx, tenantId, updated.changed, toContact(updated.contact, identities));
  }

  private tellCreatedPipelined(
    tx: Transaction,
    contact: ContactEntity,
    identities: ContactIdentityEntity[],
  ): void {
    const data = { contactId: contact.id, contact: toEventContact(toContact(contact, identities)) };
    this.outbox.appendPipelined(tx, contact.tenantId, 'contact.created', data);
  }

  private tellUpdatedPipelined(
    tx: Transaction,
    tenantId: string,
    changed: EventData<'contact.updated'>['changed'],
    contact: ContactResponse,
  ): void {
    const data = { contactId: contact.id, changed, contact: toEventContact(contact) };
    this.outbox.appendPipelined(tx, tenantId, 'contact.updated', data);
  }

  private async find(tenantId: string, id: string): Promise<ContactEntity> {
    const contact = await this.contacts.find(tenantId, id);
    if (!contact) throw AppError.notFound('Contact');
    return contact;
  }

  private async addIdentity(tx: Transaction, identity: ContactIdentityEntity): Promise<void> {
    const { tenantId, channel, externalId } = identity;
    const known = await this.contacts.lockIdentity(tx, tenantId, channel, externalId);
    if (known) throw AppError.invalidBody('identity', 'identity_taken', { contact: known.contactId });
    await this.contacts.insertIdentity(tx, identity);
  }
}

/** Returns a contact as events have it. */
function toEventContact(contact: ContactResponse): EventData<'contact.created'>['contact'] {
  const { createdAt, updatedAt } = contact;
  return { ...contact, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}

/** Returns a contact with other values. Those that were verified and have changed are so no longer. */
function edit(before: ContactEntity, given: Omit<UpdateContact, 'updatedAt'>): ContactEntity {
  const { name = before.name, email = before.email, phone = before.phone, attributes } = given;
  const after = {
    ...before,
    name: toStored(name),
    email: toStored(email),
    phone,
    attributes: attributes ?? before.attributes,
  };
  return {
    ...after,
    verified: before.verified.filter((field) => after[field] === before[field]),
    // Each edit has a moment of its own, by which the next one knows what it edits.
    updatedAt: new Date(Math.max(Date.now(), before.updatedAt.getTime() + 1)),
  };
}

function subjectOf({ tenantId, id }: ContactEntity, actor: Actor) {
  return { tenantId, actor, entity: 'contact', entityId: id };
}

function newContact(
  tenantId: string,
  known: Pick<ContactEntity, 'name' | 'email' | 'phone' | 'attributes'>,
): ContactEntity {
  const now = new Date();
  return {
    id: newId(),
    tenantId,
    name: toStored(known.name),
    email: toStored(known.email),
    phone: known.phone,
    avatarUrl: null,
    verified: [],
    attributes: known.attributes,
    createdAt: now,
    updatedAt: now,
    erasedAt: null,
  };
}
