import { Injectable } from '@nestjs/common';
import { AuditService } from '../audit/audit.service';
import { changedValues } from '../audit/changed-values';
import { Channel } from '../common/channel-descriptors';
import { SYSTEM } from '../access/principal';
import { Transaction } from '../database/transaction';
import { EventData } from '../outbox/event-catalog';
import { EventlessChanges } from '../outbox/eventless-changes';
import { toContact } from './contact.dto';
import { ContactEntity, newContact, nextEditTime, VERIFIED_FIELDS } from './contact.entity';
import { ContactEvents } from './contact-events';
import { ContactIdentitiesRepository } from './contact-identities.repository';
import { ContactProfile, phoneAfter, withProfile, withProfileOf } from './contact-profile';
import { ContactsRepository } from './contacts.repository';
import { hasChanges, IdentityLink, linkIdentities, NamedIds, StoredIdentity } from './identity-links';
import { requireLocked } from './more-identities';
import { readWholeNumber } from './phone-number';

/** Person as a channel describes them with a message. */
export interface ChannelCustomer {
  channel: Channel;
  /** Provider's id of the person, to which answers are sent. */
  externalId: string;
  /** Further ids of the person that came with the message. */
  otherIds?: string[];
  name: string | null;
  phone: string | null;
  /** Time at which the person wrote; by default the present time. */
  at?: Date;
  /** Further ids to lock: those that `lockingAll` has passed to the function that it runs. */
  more?: string[];
}

/** Ids that a provider named together as one person's, without a message of the person. */
export interface NamedCustomer extends NamedIds {
  /** Phone number of the person; null if the ids contain none. */
  phone: string | null;
  /** Further ids to lock: those that `lockingAll` has passed to the function that it runs. */
  more?: string[];
}

/** Contact of a person, and the changes that the person's ids caused. */
export interface KnownCustomer {
  contactId: string;
  /** Whether this call created the contact. */
  isNew: boolean;
  /** Contacts that were merged into this one. Their conversations have not been moved yet. */
  merged: string[];
  /** Ids that are no longer the person's. */
  replaced: string[];
  /** Ids that the contact has gained, and the contacts (`losers`) that had them before. */
  gained: string[];
  losers: string[];
}

type KnownLink = IdentityLink & { contactId: string };

const PROFILE = ['name', 'email', 'phone', 'attributes', 'verified'] as const;

/** Finds, creates and merges contacts by the ids with which channels name people. */
@Injectable()
export class CustomersService {
  constructor(
    private readonly contacts: ContactsRepository,
    private readonly identities: ContactIdentitiesRepository,
    private readonly events: ContactEvents,
    private readonly changes: EventlessChanges,
    private readonly audit: AuditService,
  ) {}

  /**
   * Finds the contact with a customer's ids, or creates one with its `contact.created` event. New ids are
   * assigned to the contact, and contacts that the ids prove to be one person are merged. Locks the ids until
   * the transaction ends. Call it only in the function that `lockingAll` runs, before its first write.
   */
  async identify(tx: Transaction, tenantId: string, customer: ChannelCustomer): Promise<KnownCustomer> {
    const { channel, externalId, otherIds = [], name, phone, at = new Date(), more = [] } = customer;
    const ids = [...new Set([externalId, ...otherIds])];
    const locked = [...new Set([...ids, ...more])];
    const found = await this.identities.lockAndFind(tx, tenantId, channel, locked);
    const known = found.filter((one) => ids.includes(one.externalId));
    const [first] = known;
    const isFirsts = ({ contactId, replacedAt }: StoredIdentity) =>
      contactId === first!.contactId && replacedAt === null;
    if (first && known.length === ids.length && known.every(isFirsts)) return unchanged(first.contactId);
    const named = { channel, ids, phone, at };
    const link = await this.findLink(tx, tenantId, named, known, locked);
    if (isKnown(link))
      return hasChanges(link) ? this.apply(tx, tenantId, named, link) : unchanged(link.contactId);
    const contact = newContact(tenantId, { name, email: null, phone, attributes: {} });
    await this.contacts.insert(tx, contact);
    await this.gain(tx, contact, named, link);
    const identities = ids.map((id) => ({ channel, externalId: id }));
    this.events.tellCreatedPipelined(tx, contact, identities);
    return { ...unchanged(contact.id), isNew: true, gained: link.gained, losers: link.losers };
  }

  /**
   * Assigns ids that a provider has named together to the contact who has one of them. Does nothing if no
   * contact has one, or if a change after `at` is stored. Without `previousIds` it takes no id from another
   * contact and restores none, because the report may be outdated: a phone number may have passed to another
   * person since. Call it only in the function that `lockingAll` runs, before its first write.
   * @returns null if nothing changes
   */
  async link(tx: Transaction, tenantId: string, named: NamedCustomer): Promise<KnownCustomer | null> {
    const { channel, ids, previousIds = [], at, more = [] } = named;
    const all = [...ids, ...previousIds];
    const locked = [...new Set([...all, ...more])];
    const found = await this.identities.lockAndFind(tx, tenantId, channel, locked);
    const known = found.filter(({ externalId }) => all.includes(externalId));
    if (known.length === 0) return null;
    const isOutdated = ({ externalId, replacedAt }: (typeof known)[number]) =>
      ids.includes(externalId) && replacedAt !== null && replacedAt >= at;
    if (previousIds.length > 0 && known.some(isOutdated)) return null;
    const link = await this.findLink(tx, tenantId, named, known, locked);
    if (previousIds.length === 0) {
      if (link.losers.length > 0) return null;
      link.restored = [];
    }
    return isKnown(link) && hasChanges(link) ? this.apply(tx, tenantId, named, link) : null;
  }

  /**
   * Updates a contact's profile, with one `contact.updated` event if it changes. Values that the workspace's
   * server has signed replace the contact's values and become verified. Claimed values fill only empty
   * fields. An erased contact does not change.
   */
  async updateProfile(
    tx: Transaction,
    tenantId: string,
    contactId: string,
    profiles: { signed?: ContactProfile; claimed: ContactProfile },
  ): Promise<void> {
    const before = await this.contacts.lock(tx, tenantId, contactId);
    if (!before || before.erasedAt) return;
    const after = withProfile(before, profiles);
    const changed = [
      ...VERIFIED_FIELDS.filter((field) => after[field] !== before[field]),
      ...(after.verified.length > before.verified.length ? (['verified'] as const) : []),
    ];
    if (changed.length === 0) return;
    await this.contacts.update(tx, tenantId, after);
    await this.tellUpdated(tx, after, changed);
  }

  /**
   * Decides to which contact the ids belong.
   * @throws MoreIdentities if the transaction has not locked all ids on the channel of the contacts concerned
   */
  private async findLink(
    tx: Transaction,
    tenantId: string,
    named: NamedIds,
    known: StoredIdentity[],
    locked: string[],
  ): Promise<IdentityLink> {
    if (known.length === 0) return linkIdentities(named, []);
    const contactIds = [...new Set(known.map(({ contactId }) => contactId))];
    const theirs = await this.identities.listOnChannel(tx, tenantId, named.channel, contactIds);
    requireLocked(
      locked,
      theirs.map(({ externalId }) => externalId),
    );
    return linkIdentities(named, theirs);
  }

  private async apply(
    tx: Transaction,
    tenantId: string,
    named: NamedCustomer,
    link: KnownLink,
  ): Promise<KnownCustomer> {
    const { channel, at } = named;
    // The oldest contact remains, because other systems have known it for longest.
    const [contact, ...others] = await this.contacts.lockMany(tx, tenantId, [link.contactId, ...link.same]);
    if (!contact) throw new Error(`The contact ${link.contactId} of an identity is missing`);
    const key = { tenantId, contactId: contact.id };
    if (others.length > 0) await this.merge(tx, contact, others);
    await this.gain(tx, contact, named, link);
    await this.identities.setReplaced(tx, key, channel, link.replaced, at);
    await this.identities.setReplaced(tx, key, channel, link.restored, null);
    const after = withProfileOf(contact, others, phoneAfter(contact, named.phone, link));
    await this.contacts.update(tx, tenantId, after);
    const changed = PROFILE.filter((field) => changedValues(contact, after, [field]));
    await this.tellUpdated(tx, after, ['identities', ...changed]);
    const { replaced, gained, losers } = link;
    const merged = others.map(({ id }) => id);
    return { contactId: contact.id, isNew: false, merged, replaced, gained, losers };
  }

  /**
   * Assigns the gained ids to a contact, with an event for each contact that loses an id. If a gained id is
   * the phone number of a contact that loses it, deletes the number from that contact.
   */
  private async gain(
    tx: Transaction,
    { id: contactId, tenantId }: ContactEntity,
    { channel, at }: NamedIds,
    { gained, losers }: IdentityLink,
  ): Promise<void> {
    const createdAt = new Date(Math.min(at.getTime(), Date.now()));
    for (const externalId of gained)
      await this.identities.assign(tx, { tenantId, channel, externalId, contactId, createdAt });
    if (losers.length === 0) return;
    for (const loser of await this.contacts.lockMany(tx, tenantId, losers)) {
      const hasLostPhone = loser.phone !== null && gained.includes(readWholeNumber(loser.phone) ?? '');
      const after = hasLostPhone ? { ...loser, phone: null, updatedAt: nextEditTime(loser) } : loser;
      if (hasLostPhone) await this.contacts.update(tx, tenantId, after);
      await this.tellUpdated(tx, after, hasLostPhone ? ['identities', 'phone'] : ['identities']);
    }
  }

  private async merge(
    tx: Transaction,
    { tenantId, id }: ContactEntity,
    others: ContactEntity[],
  ): Promise<void> {
    const from = others.map((other) => other.id);
    await this.identities.moveAll(tx, tenantId, from, id);
    await this.contacts.mergeAll(tx, tenantId, from, id);
    for (const mergedContactId of from) {
      this.events.tellMergedPipelined(tx, tenantId, id, mergedContactId);
      const subject = { tenantId, actor: SYSTEM, entity: 'contact', entityId: id };
      this.audit.appendPipelined(tx, { ...subject, action: 'contact.merged', metadata: { mergedContactId } });
    }
  }

  private async tellUpdated(
    tx: Transaction,
    contact: ContactEntity,
    changed: EventData<'contact.updated'>['changed'],
  ): Promise<void> {
    const { tenantId, id: contactId } = contact;
    this.changes.note(tx, tenantId, { contactId });
    const identities = await this.contacts.listIdentitiesIn(tx, tenantId, contactId);
    this.events.tellUpdatedPipelined(tx, tenantId, changed, toContact(contact, identities));
  }
}

function isKnown(link: IdentityLink): link is KnownLink {
  return link.contactId !== null;
}

function unchanged(contactId: string): KnownCustomer {
  return { contactId, isNew: false, merged: [], replaced: [], gained: [], losers: [] };
}
