import { Channel } from '../common/channel-descriptors';
import { ContactIdentityEntity } from './contact-identity.entity';
import { IdentityKind, identityKind } from './identity-forms';

/** Id of a contact on a channel, as it is stored. */
export type StoredIdentity = Pick<
  ContactIdentityEntity,
  'externalId' | 'contactId' | 'createdAt' | 'replacedAt'
>;

/** Ids of one person that a provider has named together. */
export interface NamedIds {
  channel: Channel;
  ids: string[];
  /** Ids that the person had before, if the provider tells of a change. */
  previousIds?: string[];
  /** Time at which the provider has noticed it. */
  at: Date;
}

/** Changes of the stored ids that follow from ids that were named together. */
export interface IdentityLink {
  /** Contact who has the ids; null if the workspace knows no such contact. */
  contactId: string | null;
  /** Other contacts who are the same person. */
  same: string[];
  /** Ids on the channel that the contact, and the same person, have until now. */
  own: string[];
  /** Ids that become the contact's. Until now no contact has them, or another one. */
  gained: string[];
  /** Contacts who have some of the gained ids until now. */
  losers: string[];
  /** Ids of the contact, and of the same person, that the person has no longer. */
  replaced: string[];
  /** Ids of the contact that were replaced, and are the person's again. */
  restored: string[];
}

/** Kinds of ids, the strongest first: a number is given out again, a business-scoped id is not. */
const BY_STRENGTH: IdentityKind[] = ['user', 'parent', 'phone'];

/** Unit of providers' times in milliseconds. Within one unit the order of two events is unknown. */
const UNIT_OF_TIME_MS = 1_000;

const isBefore = (one: Date, other: Date) => one.getTime() < other.getTime() + UNIT_OF_TIME_MS;

/**
 * Decides whose the ids are that a provider has named together. The stored ids contradict them if a contact
 * has only other ids of a kind that was named. Then an id moves to its present owner, and no contacts are
 * merged.
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

  /** Reports whether a phone number has another holder than the contact who has it until now. */
  const isGivenOut = (id: string): boolean => {
    const { contactId, createdAt, replacedAt } = byId.get(id)!;
    if (!isPhone(id)) return false;
    // Who has come with the new number of a change after it is who has changed it.
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
  // With a new number come new ids of the other kinds, but not the other way round.
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

/** Reports whether ids that were named together change anything that is stored. */
export function hasChanges({ same, gained, replaced, restored }: IdentityLink): boolean {
  return [same, gained, replaced, restored].some(({ length }) => length > 0);
}
