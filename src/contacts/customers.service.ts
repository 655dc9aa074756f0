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

/** Person as a channel describes them. */
export interface ChannelCustomer {
  channel: Channel;
  /** Provider's id of the person, to which answers go. */
  externalId: string;
  /** Other ids of the person that came with it. */
  otherIds?: string[];
  name: string | null;
  phone: string | null;
  /** Time at which the person wrote, if the channel tells it. */
  at?: Date;
  /** Ids of `lockingAll`. */
  more?: string[];
}

/** Ids of a person that were named together, without a message of theirs. */
export interface NamedCustomer extends NamedIds {
  /** Number by which people know the person; null if the ids have none. */
  phone: string | null;
  /** Ids of `lockingAll`. */
  more?: string[];
}

/** Contact to whom the ids of a person have led, and the changes that followed. */
export interface KnownCustomer {
  contactId: string;
  /** Whether the contact was created. */
  isNew: boolean;
  /** Contacts that were merged into this one. Their conversations still have their ids. */
  merged: string[];
  /** Ids that the person has no longer. */
  replaced: string[];
  /** Ids that the person has gained, and the contacts that have lost them. */
  gained: string[];
  losers: string[];
}

type KnownLink = IdentityLink & { contactId: string };

/** Fields of a contact that say something about the person. */
const PROFILE = ['name', 'email', 'phone', 'attributes', 'verified'] as const;

/** Finds the contacts of the people whom channels name, by all of their ids. */
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
   * Finds the contact with a customer's ids, or creates one, with its `contact.created`. New ids become the
   * contact's, and contacts whom the ids prove to be one person are merged. Other transactions with one of
   * the ids wait until this one ends. Only work of `lockingAll` may call it, before it writes.
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
   * Links ids that a provider has named together to the contact who has one of them. It changes nothing
   * without such a contact, or if a later change of the ids is known. Without former ids it takes no id from
   * another contact, and restores none: a status can be of a message from before a number was given out. Only
   * work of `lockingAll` may call it, before it writes.
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
   * Updates a contact's profile, with one `contact.updated` if it changes. Values that the workspace's server
   * has signed replace the contact's, and are verified. Claimed values fill empty fields alone. An erased
   * contact stays as it is.
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
   * Decides whose the ids are, under the locks of all ids on the channel of the contacts who may have them.
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
    // The oldest one goes on, because other systems have known it for longest.
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

  /** Gives a contact the ids that it gains, and tells of the contacts that lose them. */
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

  /** Merges other contacts of the same person into one. */
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
