import { Channel } from '../common/channel-descriptors';
import { ContactIdentityEntity } from './contact-identity.entity';
import { IdentityKind, identityKind } from './identity-forms';

export type StoredIdentity = Pick<
  ContactIdentityEntity,
  'externalId' | 'contactId' | 'createdAt' | 'replacedAt'
>;

export interface NamedIds {
  channel: Channel;
  ids: string[];
  /** Ids that the person had before, if the provider reports a change of ids. */
  previousIds?: string[];
  /** Time of the provider's report. */
  at: Date;
}

/** Effects of a provider's report on the stored ids of contacts. A report contains ids of one person. */
export interface IdentityLink {
  /** Contact to whom the reported ids belong; null if they lead to no contact. */
  contactId: string | null;
  /** Other contacts who are the same person as the contact. */
  same: string[];
  /** Ids on the channel that the contact and the contacts in `same` had before the report. */
  own: string[];
  /** Reported ids that become the contact's. Before the report, another contact or no contact had them. */
  gained: string[];
  /** Contacts who lose some of the gained ids. */
  losers: string[];
  /** Ids in `own` that are no longer the person's. */
  replaced: string[];
  /** Ids in `own` that had been replaced, and are the person's again. */
  restored: string[];
}

/** Kinds of ids, the most reliable first. Phone numbers are last because they can pass to another person. */
const BY_STRENGTH: IdentityKind[] = ['user', 'parent', 'phone'];

/** Milliseconds within which the order of events is unknown, because providers report times in seconds. */
const UNIT_OF_TIME_MS = 1_000;

const isBefore = (one: Date, other: Date) => one.getTime() < other.getTime() + UNIT_OF_TIME_MS;

/**
 * Decides to which contact the ids belong that a provider has named together. A contact is another person if
 * it has ids of a named kind, but none of the named ids. Contacts of two persons are not merged. Instead, an
 * id passes from its former owner to its present one.
 * @param stored all ids on the channel of each contact who has one of the named ids
 */
export function linkIdentities(named: NamedIds, stored: StoredIdentity[]): IdentityLink {
  const { channel, ids, previousIds = [], at } = named;
  const isChange = previousIds.length > 0;
  const kindOf = (id: string) => identityKind(channel, id);
  const isPhone = (id: string) => kindOf(id) === 'phone';
  const strength = (id: string) => BY_STRENGTH.indexOf(kindOf(id));
  const all = [...ids, ...previousIds];
  const byId = new Map(stored.map((identity) => [identity.externalId, identity]));
  const present = (contactId: string, kind: IdentityKind) =>
    stored.filter(
      (one) => one.contactId === contactId && one.replacedAt === null && kindOf(one.externalId) === kind,
    );
  const hasOnlyOthers = (contactId: string, kind: IdentityKind) => {
    const own = present(contactId, kind);
    return own.length > 0 && !own.some(({ externalId }) => all.includes(externalId));
  };
  const namesKind = (kind: IdentityKind) => all.some((id) => kindOf(id) === kind);

  /** Reports whether a phone number has passed from the contact who has it to another person. */
  const isGivenOut = (id: string): boolean => {
    const { contactId, createdAt, replacedAt } = byId.get(id)!;
    if (!isPhone(id)) return false;
    // A contact who got the new number only after the reported change is the person who changed the number.
    if (isChange && ids.includes(id)) return isBefore(createdAt, at);
    if (replacedAt !== null && replacedAt < at) return true;
    if (isChange || !namesKind('user')) return false;
    return replacedAt !== null || hasOnlyOthers(contactId, 'user');
  };
  const isSame = (one: string, other: string): boolean =>
    BY_STRENGTH.every((kind) => {
      if (namesKind(kind)) return !hasOnlyOthers(one, kind) && !hasOnlyOthers(other, kind);
      return present(one, kind).length === 0 || present(other, kind).length === 0;
    });

  const known = (among: string[]) =>
    among.filter((id) => byId.has(id)).sort((a, b) => strength(a) - strength(b));
  const ownerOf = (id: string) => byId.get(id)?.contactId;
  const contactId =
    ownerOf([...known(previousIds), ...known(ids)].find((id) => !isGivenOut(id)) ?? '') ?? null;
  const proving = known(all).filter((id) => byId.get(id)!.replacedAt === null && !isGivenOut(id));
  const same = [...new Set(proving.map((id) => byId.get(id)!.contactId))].filter(
    (other) => contactId !== null && other !== contactId && isSame(contactId, other),
  );
  const owners = [contactId, ...same];
  const gained = ids.filter((id) => !owners.includes(ownerOf(id) ?? ''));
  const losers = [...new Set(known(gained).map((id) => byId.get(id)!.contactId))];
  const restored = ids.filter((id) => {
    const replacedAt = byId.get(id)?.replacedAt ?? null;
    return !gained.includes(id) && replacedAt !== null && replacedAt < at;
  });
  const own = stored.filter((one) => owners.includes(one.contactId));
  // A new phone number replaces the person's other ids too. New ids of other kinds do not replace the number.
  const hasNewNumber =
    [...gained, ...restored].some(isPhone) || (ids.some(isPhone) && previousIds.some(isPhone));
  const isReplaced = ({ externalId: id, createdAt, replacedAt }: StoredIdentity) =>
    isChange &&
    replacedAt === null &&
    !ids.includes(id) &&
    (hasNewNumber || !isPhone(id)) &&
    (previousIds.includes(id) || isBefore(createdAt, at));
  return {
    contactId,
    same,
    own: own.map(({ externalId }) => externalId),
    gained,
    losers,
    replaced: own.filter(isReplaced).map(({ externalId }) => externalId),
    restored,
  };
}

export function hasChanges({ same, gained, replaced, restored }: IdentityLink): boolean {
  return [same, gained, replaced, restored].some(({ length }) => length > 0);
}
