import { Injectable } from '@nestjs/common';
import { requirePermission, requireReadPermission } from '../access/require-permission';
import { AuditService } from '../audit/audit.service';
import { changedValues } from '../audit/changed-values';
import { AppError } from '../common/app-error';
import { isId } from '../common/ids';
import { Page, toPage } from '../common/page';
import { Actor, SYSTEM } from '../access/principal';
import { validate } from '../common/validate';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { IdempotencyService } from '../idempotency/idempotency.service';
import { IdempotentRequest } from '../idempotency/idempotent-request';
import { Closable } from '../common/work-budget';
import {
  ContactDetail,
  CreateContact,
  ListContactsQuery,
  NewIdentity,
  ContactResponse,
  toContact,
  UpdateContact,
} from './contact.dto';
import { ContactEntity, newContact, nextEditTime } from './contact.entity';
import { ContactEvents } from './contact-events';
import { ContactIdentitiesRepository } from './contact-identities.repository';
import { ContactIdentityEntity } from './contact-identity.entity';
import { toStored } from './contact-search';
import { IDENTITY_FORMS, toProviderForm } from './identity-forms';
import { ContactsRepository } from './contacts.repository';

const EDITABLE = ['name', 'email', 'phone', 'attributes'] as const;

@Injectable()
export class ContactsService {
  constructor(
    private readonly database: Database,
    private readonly contacts: ContactsRepository,
    private readonly audit: AuditService,
    private readonly identities: ContactIdentitiesRepository,
    private readonly events: ContactEvents,
    private readonly idempotency: IdempotencyService,
  ) {}

  /**
   * Returns a page of contacts, newest first: 50 by default, 200 at most. `q` searches name, e-mail and
   * phone.
   * @param caller a search ends when this response is closed
   * @throws AppError INVALID_QUERY; FORBIDDEN; with `q`: RATE_LIMITED (the workspace runs too many searches),
   *   UNAVAILABLE (the process runs too many, or the search takes too long)
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
   * Returns a contact with its identities; for a merged contact, the one into which it was merged.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async get(tenantId: string, id: string, actor: Actor): Promise<ContactResponse> {
    return (await this.read(tenantId, id, actor)).contact;
  }

  /**
   * Returns a contact with its identities, and the time at which it was erased.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async getDetail(tenantId: string, id: string, actor: Actor): Promise<ContactDetail> {
    const { contact, erasedAt } = await this.read(tenantId, id, actor);
    return { ...contact, erasedAt };
  }

  /**
   * Returns the id of the contact into which a contact was merged; the given id if it was not merged.
   * @internal
   */
  async findPresentId(tenantId: string, id: string): Promise<string> {
    return (await this.contacts.find(tenantId, id))?.id ?? id;
  }

  /**
   * Creates a contact, with its `contact.created` event. Appends an audit entry, unless the actor is the
   * system. A request with a known idempotency key gets the contact that the first request created, in its
   * present state, because no copy of the answer is stored.
   * @throws AppError INVALID_BODY (also if another contact has the identity), FORBIDDEN, NOT_FOUND (the
   *   workspace), IDEMPOTENCY_CONFLICT
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
      identity: given,
    } = validate(CreateContact, input);
    if (!isId(tenantId)) throw AppError.notFound('Workspace');
    const identity = given && toIdentity(given);
    const contact = newContact(tenantId, { name, email, phone, attributes });
    const { id: contactId, createdAt } = contact;
    const identities = identity ? [{ tenantId, ...identity, contactId, createdAt, replacedAt: null }] : [];
    const { id } = await this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'contact.create');
      return this.idempotency.once(tx, { tenantId, conversationId: null }, request, async () => {
        await this.contacts.insert(tx, contact);
        if (actor.type !== 'system')
          this.audit.appendPipelined(tx, { ...subjectOf(contact, actor), action: 'contact.created' });
        for (const one of identities) await this.addIdentity(tx, one);
        this.events.tellCreatedPipelined(tx, contact, identities);
        return { id: contactId };
      });
    });
    return id === contactId ? toContact(contact, identities) : this.get(tenantId, id, SYSTEM);
  }

  /**
   * Changes a contact's name, e-mail address, phone number or attributes, with one `contact.updated` event. A
   * changed value counts as unverified until the workspace's server signs it. The audit entry names the
   * changed fields without their values, because it outlives the contact.
   * @throws AppError INVALID_BODY (also without a field to change), CONFLICT (the contact was changed since
   *   `updatedAt`, or is erased), FORBIDDEN, NOT_FOUND
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
      const identities = await this.contacts.listIdentitiesIn(tx, tenantId, before.id);
      const fields = EDITABLE.filter((field) => changedValues(before, after, [field]));
      // No conflict: a client that repeats its request finds the values that its first request has stored.
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
      this.events.tellUpdatedPipelined(tx, tenantId, changed, updated);
      return updated;
    });
  }

  private async read(tenantId: string, id: string, actor: Actor) {
    await requireReadPermission(this.database, tenantId, actor, 'contact.read');
    const found = await this.contacts.find(tenantId, id);
    if (!found) throw AppError.notFound('Contact');
    const identities = await this.contacts.listIdentities(tenantId, [found.id]);
    return { contact: toContact(found, identities), erasedAt: found.erasedAt };
  }

  private async addIdentity(tx: Transaction, identity: ContactIdentityEntity): Promise<void> {
    const { tenantId, channel, externalId } = identity;
    const [known] = await this.identities.lockAndFind(tx, tenantId, channel, [externalId]);
    if (known) throw AppError.invalidBody('identity', 'identity_taken', { contact: known.contactId });
    await this.identities.assign(tx, identity);
  }
}

/** Returns a contact with new values. A value that has changed is no longer verified. */
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
    updatedAt: nextEditTime(before),
  };
}

function subjectOf({ tenantId, id }: ContactEntity, actor: Actor) {
  return { tenantId, actor, entity: 'contact', entityId: id };
}

/**
 * Returns an identity with its id in the form that the provider uses.
 * @throws AppError INVALID_BODY
 */
function toIdentity({ channel, externalId: given }: NewIdentity): NewIdentity {
  const externalId = toProviderForm(channel, given);
  if (externalId !== null) return { channel, externalId };
  throw AppError.invalidBody('identity.externalId', IDENTITY_FORMS[channel]!.fault);
}
